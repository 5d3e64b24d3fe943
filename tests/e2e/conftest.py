"""Every test here drives a browser."""

from browsers import app_url, chromium, context, deceived, page, store_path  # noqa: F401
