"""Views of the Runs list that people saved: its settings under a name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.saved import VIEWS, Saved, put_saved

MAX_CHARACTERS = 20_000
"""Of the settings as JSON."""


def put_view(
    cursor: DuckDBPyConnection, name: str, settings: Mapping[str, Any], at: datetime
) -> None:
    """Save a view, replacing one of that name, within the caller's transaction.

    Raises UsageError for an invalid name, and for settings that are too long.
    """
    text = json.dumps(dict(settings), ensure_ascii=False, sort_keys=True)
    if len(text) > MAX_CHARACTERS:
        raise UsageError("The view has too many filters to be saved: take some out.")
    put_saved(cursor, VIEWS, name, text, at)


def settings_of(saved: Saved) -> dict[str, Any]:
    """The settings, not checked: another machine may have written them. Empty where they are no
    JSON object."""
    found = json.loads(saved.content)
    return found if isinstance(found, dict) else {}
