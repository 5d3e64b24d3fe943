"""Every test here drives a browser."""

from browsers import chromium, context, deceived, page  # noqa: F401
