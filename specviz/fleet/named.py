"""The servers that people named, and the variables of their API keys."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from specviz.config import EngineKind
from specviz.servers.client.api_key import use_variables
from specviz.servers.client.probe import base_url
from specviz.store import Store
from specviz.store.named_servers import (
    NamedServer,
    delete_server,
    put_server,
    read_server,
    read_servers,
)


def named_servers(store: Store) -> list[NamedServer]:
    """Those of the store; from now on each gets its own API key. Raises StoreError."""
    servers = store.read(read_servers)
    use_variables({server.url: server.key_env for server in servers if server.key_env})
    return servers


def find_named(store: Store, name: str) -> NamedServer:
    """Raises UsageError where no server has the name, StoreError."""
    named_servers(store)
    return store.read(read_server, name)


def as_typed(
    name: str,
    url: str,
    *,
    kind: EngineKind | None = None,
    key_env: str = "",
    labels: Iterable[str] = (),
    baseline_of: str = "",
    added_at: datetime | None = None,
) -> NamedServer:
    """A server from what somebody typed; empty text is nothing. Raises UsageError."""
    return NamedServer(
        name.strip(),
        base_url(url),
        added_at or datetime.now(UTC),
        kind,
        key_env.strip() or None,
        tuple(dict.fromkeys(label.strip() for label in labels if label.strip())),
        baseline_of.strip() or None,
    )


def add_named(store: Store, server: NamedServer) -> None:
    """Raises UsageError for a name that is taken, StoreError."""
    store.write(put_server, server, None)
    named_servers(store)


def replace_named(store: Store, name: str, server: NamedServer) -> None:
    """Put a server in place of the one called `name`. Raises UsageError or StoreError."""
    store.write(put_server, server, name)
    named_servers(store)


def remove_named(store: Store, name: str) -> NamedServer:
    """The server that was removed. Raises UsageError if there is none, StoreError."""
    server = find_named(store, name)
    store.write(delete_server, name)
    named_servers(store)
    return server
