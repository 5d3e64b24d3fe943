"""Every test here drives a browser."""

from tests.support.browsers import app_url, chromium, context, deceived, page, store_path  # noqa: F401
