"""Every test here drives a browser."""

from tests.support.browsers import (  # noqa: F401
    app_url,
    chromium,
    context,
    deceived,
    no_traceback,
    page,
    store_path,
)
