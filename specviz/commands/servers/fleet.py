"""The fleet that a command asks about: of the database, or of the app that owns it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specviz.fleet.monitor import Monitor
    from specviz.store import Location, Store


def fleet_answer(
    db: Location | None,
    here: Callable[[Store, Monitor], dict[str, Any]],
    there: Callable[[str, str | None], dict[str, Any]],
) -> dict[str, Any]:
    """What one of the two answers; `there` gets the app's URL and secret.

    Raises UsageError or StoreError.
    """
    from contextlib import closing

    from specviz.fleet.monitor import Monitor
    from specviz.store import StoreBusy, default_location, open_store

    try:
        with open_store(db or default_location()) as store, closing(Monitor()) as monitor:
            return here(store, monitor)
    except StoreBusy as busy:
        if busy.url is None:
            raise
        print(f"The app at {busy.url} owns the database and answers.", file=sys.stderr)
        return there(busy.url, busy.secret)


def checked_fleet(db: Location | None, name: str | None = None) -> dict[str, Any]:
    """One server, or all of them, asked now. Raises as `fleet_answer`."""
    from specviz.fleet.answers import check_answer
    from specviz.remote.servers import check_there

    return fleet_answer(
        db,
        lambda store, monitor: check_answer(store, monitor, name),
        lambda url, secret: check_there(url, name, secret=secret),
    )
