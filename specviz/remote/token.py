"""What lets a program in: the token of SPECVIZ_INGEST_TOKEN, or the secret next to the store.

The token is the operator's, for the app and for other machines. The secret is the app's own: a
program that can read it belongs to the app's user (`specviz.store.secret`).
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from specviz.errors import UsageError
from specviz.machine import is_loopback
from specviz.store import default_location
from specviz.store.secret import read_secret

TOKEN = "SPECVIZ_INGEST_TOKEN"
SECRET_HEADER = "X-Specviz-Secret"

CALLER_HEADER = "X-Specviz-Caller"
"""Written by the app's guard for the pages, over whatever a caller sent."""

OWN_CALLER, TOKEN_CALLER = "own", "token"


def own_token() -> str | None:
    """The token of the environment, if one is set."""
    return os.environ.get(TOKEN, "").strip() or None


def authorization(token: str | None = None) -> dict[str, str]:
    """The header with the given token, else with that of the environment; {} without one.

    Raises UsageError for a token that no header can carry; the message does not show it.
    """
    token = token or own_token()
    if token is None:
        return {}
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(
            f"{TOKEN} may contain ASCII letters, digits and punctuation only, no spaces."
        )
    return {"Authorization": f"Bearer {token}"}


def secret_header(secret: str | None) -> dict[str, str]:
    return {SECRET_HEADER: secret} if secret else {}


def secret_for(url: str) -> str | None:
    """The secret of the app on the usual store, for a URL of this machine; None for all others."""
    return read_secret(default_location()) if is_loopback(urlsplit(url).hostname or "") else None
