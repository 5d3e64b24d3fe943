"""What `specviz servers` and `/api/servers` answer, each the JSON of `document`."""

from __future__ import annotations

from typing import Any

from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.fleet.document import document
from specviz.fleet.monitor import Monitor
from specviz.fleet.named import add_named, as_typed, find_named, named_servers, remove_named
from specviz.store import Store
from specviz.store.named_servers import NamedServer

_TEXTS = ("name", "url", "key_env", "baseline_of")


def list_answer(store: Store, monitor: Monitor) -> dict[str, Any]:
    """All servers, as the last checks found them; nobody is asked. Raises StoreError."""
    servers = named_servers(store)
    return document(servers, monitor.known(server.url for server in servers))


def add_answer(store: Store, server: NamedServer) -> dict[str, Any]:
    """Raises UsageError for a name that is taken, StoreError."""
    add_named(store, server)
    return document([server], {})


def remove_answer(store: Store, name: str) -> dict[str, Any]:
    """Raises UsageError if there is none, StoreError."""
    return document([remove_named(store, name)], {})


def check_answer(store: Store, monitor: Monitor, name: str | None) -> dict[str, Any]:
    """One server, or all of them, asked now. Raises UsageError if there is none, StoreError."""
    servers = named_servers(store) if name is None else [find_named(store, name)]
    return document(servers, monitor.check(server.url for server in servers))


def server_of(body: Any) -> NamedServer:
    """A server from JSON as `document` writes it; all but name and URL may be left out.

    Raises UsageError for what is none.
    """
    if not isinstance(body, dict):
        raise UsageError('A server is {"name": text, "url": text, …}.')
    if unknown := sorted(body.keys() - {*_TEXTS, "kind", "labels"}):
        raise UsageError(f"A server has no {unknown[0]!r}: leave it out.")
    texts = {key: body.get(key) or "" for key in _TEXTS}
    labels = body.get("labels") or []
    if not all(isinstance(text, str) for text in texts.values()) or not (
        isinstance(labels, list) and all(isinstance(label, str) for label in labels)
    ):
        raise UsageError("Everything about a server is text, and its labels are a list of texts.")
    return as_typed(
        texts["name"],
        texts["url"],
        kind=kind_of(body.get("kind")),
        key_env=texts["key_env"],
        labels=labels,
        baseline_of=texts["baseline_of"],
    )


def kind_of(word: object) -> EngineKind | None:
    """The kind that a word names; None for no word. Raises UsageError for another word."""
    if not word:
        return None
    try:
        return EngineKind(str(word))
    except ValueError:
        kinds = ", ".join(kind for kind in EngineKind if kind is not EngineKind.EMBEDDED)
        raise UsageError(f"The kind cannot be {word!r}: use one of {kinds}.") from None
