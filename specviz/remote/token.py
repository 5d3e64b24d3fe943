"""The token that lets a program in: the app and its callers have it in SPECVIZ_INGEST_TOKEN."""

from __future__ import annotations

import os

from specviz.errors import UsageError

TOKEN = "SPECVIZ_INGEST_TOKEN"


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
