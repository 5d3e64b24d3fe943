"""Inference servers that people named: the rows of the table `servers`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from duckdb import DuckDBPyConnection

from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.store.runs.tables import insert, to_utc

MAX_SERVERS = 100
MAX_LABELS = 10
LONGEST_NAME, LONGEST_LABEL, LONGEST_URL = 60, 40, 2048

_KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*API_KEY|API_KEY")


@dataclass(frozen=True, slots=True)
class NamedServer:
    """One server. Raises UsageError for what cannot be one.

    `url` is the root of its API, `kind` what is expected there (None: recognised by asking),
    `key_env` the name of the environment variable with its API key, `baseline_of` the name of the
    server whose plain decoding this one is. `added_at` in UTC.
    """

    name: str
    url: str
    added_at: datetime
    kind: EngineKind | None = None
    key_env: str | None = None
    labels: tuple[str, ...] = ()
    baseline_of: str | None = None

    def __post_init__(self) -> None:
        _check_text(self.name, "name", LONGEST_NAME)
        _check_url(self.url)
        if self.kind is EngineKind.EMBEDDED:
            raise UsageError("The embedded engine is no server: leave the kind out.")
        if self.key_env is not None and not _KEY_VARIABLE.fullmatch(self.key_env):
            raise UsageError(
                "The key is given as the name of an environment variable that ends in API_KEY, "
                "such as GPU1_API_KEY: a key itself is never stored."
            )
        if len(self.labels) > MAX_LABELS:
            raise UsageError(f"A server has at most {MAX_LABELS} labels.")
        for label in self.labels:
            _check_text(label, "label", LONGEST_LABEL)
        if self.baseline_of == self.name:
            raise UsageError(f"{self.name} cannot be its own baseline: name another server.")

    def described(self) -> dict[str, Any]:
        """Everything that somebody typed, in JSON's types; not when it was added."""
        return {
            "name": self.name,
            "url": self.url,
            "kind": self.kind and self.kind.value,
            "key_env": self.key_env,
            "labels": list(self.labels),
            "baseline_of": self.baseline_of,
        }


def put_server(cursor: DuckDBPyConnection, server: NamedServer, replacing: str | None) -> None:
    """Add a server, or put it in place of the one named `replacing`, whose baselines follow it.

    Raises UsageError for a name that another server has, for one to replace that is not there, and
    for a baseline of a server that is not there.
    """
    others = {one.name: one for one in read_servers(cursor)}
    if replacing is not None:
        before = _known(others, replacing)
        del others[before.name]
    if server.name in others:
        raise UsageError(f"There is a server {server.name} already: choose another name.")
    if server.baseline_of is not None:
        _known(others, server.baseline_of)
    if len(others) >= MAX_SERVERS:
        raise UsageError(f"There are {MAX_SERVERS} servers already: remove one first.")
    if replacing is not None:
        cursor.execute("DELETE FROM servers WHERE name = ?", [replacing])
        _point_baselines(cursor, replacing, server.name)
    insert(cursor, "servers", server.described() | {"added_at": to_utc(server.added_at)})


def delete_server(cursor: DuckDBPyConnection, name: str) -> None:
    """Its baselines stay, as servers of their own. Raises UsageError if there is none."""
    read_server(cursor, name)
    cursor.execute("DELETE FROM servers WHERE name = ?", [name])
    _point_baselines(cursor, name, None)


def read_server(cursor: DuckDBPyConnection, name: str) -> NamedServer:
    """Raises UsageError if there is none."""
    return _known({one.name: one for one in read_servers(cursor)}, name)


def read_servers(cursor: DuckDBPyConnection) -> list[NamedServer]:
    """In the order in which they were added, each followed by its baselines."""
    cursor.execute(
        "SELECT name, url, added_at, kind, key_env, labels, baseline_of FROM servers "
        "ORDER BY added_at, name"
    )
    servers = [
        NamedServer(
            name,
            url,
            added_at.replace(tzinfo=UTC),
            EngineKind(kind) if kind in set(EngineKind) else None,  # of a newer specviz: asked
            key_env,
            tuple(labels),
            baseline_of,
        )
        for name, url, added_at, kind, key_env, labels, baseline_of in cursor.fetchall()
    ]
    return _with_baselines_behind(servers)


def _with_baselines_behind(servers: Sequence[NamedServer]) -> list[NamedServer]:
    names = {server.name for server in servers}
    own = [server for server in servers if server.baseline_of not in names]
    ordered = list[NamedServer]()
    for server in own:
        ordered += [server, *(one for one in servers if one.baseline_of == server.name)]
    return ordered + [server for server in servers if server not in ordered]


def _point_baselines(cursor: DuckDBPyConnection, name: str, to: str | None) -> None:
    cursor.execute("UPDATE servers SET baseline_of = ? WHERE baseline_of = ?", [to, name])


def _known(servers: dict[str, NamedServer], name: str) -> NamedServer:
    if name in servers:
        return servers[name]
    if not servers:
        raise UsageError(f"There is no server {name}: none is stored yet, add it first.")
    raise UsageError(f"There is no server {name}: there are {', '.join(sorted(servers))}.")


def _check_text(text: str, noun: str, longest: int) -> None:
    if not text or text != text.strip() or not text.isprintable() or len(text) > longest:
        raise UsageError(
            f"A server's {noun} has 1 to {longest} printable characters and no blanks around them."
        )


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or len(url) > LONGEST_URL:
        raise UsageError(f"{url[:80]!r} is not a server URL: write one like http://127.0.0.1:8000.")
    if "@" in parts.netloc:
        raise UsageError(
            "Leave user and password out of the URL, because URLs are shown and stored: name the "
            "environment variable of an API key instead."
        )
    if parts.query or parts.fragment:
        raise UsageError("Leave everything from the ? or # out of the URL: it is an API's root.")
