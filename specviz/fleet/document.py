"""A fleet as JSON: what `specviz servers … --json` prints and `/api/servers` answers.

The schema is `docs/schemas/servers.schema.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from specviz.config import EngineKind
from specviz.fleet.acceptance import Acceptance
from specviz.fleet.health import Health, is_lossless, unexpected
from specviz.store.named_servers import NamedServer


def document(servers: Iterable[NamedServer], health: Mapping[str, Health]) -> dict[str, Any]:
    """`health` by URL; a server that is not in it was not asked."""
    return {"servers": [_server(server, health.get(server.url)) for server in servers]}


def server_in(row: Mapping[str, Any]) -> NamedServer:
    """The server of a row of `document`."""
    return NamedServer(
        row["name"],
        row["url"],
        datetime.fromisoformat(row["added_at"]),
        row["kind"] and EngineKind(row["kind"]),
        row["key_env"],
        tuple(row["labels"]),
        row["baseline_of"],
    )


def _server(server: NamedServer, health: Health | None) -> dict[str, Any]:
    return {
        **server.described(),
        "added_at": server.added_at.isoformat(),
        "health": health and _health(server, health),
    }


def _health(server: NamedServer, health: Health) -> dict[str, Any]:
    found = health.found
    offers = found and found.capabilities
    method, k = offers.settled(None, None) if offers else (None, None)
    return {
        "reachable": health.is_up,
        "checked_at": health.checked_at.isoformat(),
        "down_since": health.down_since and health.down_since.isoformat(),
        "problem": health.problem or unexpected(health, server.kind),
        "kind": found and found.dialect.engine.value,
        "software": found and (found.software or found.dialect.name),
        "model": found and found.model,
        "speculates": offers and offers.speculates,
        "method": method and method.value,
        "k": k,
        "draft": offers and offers.draft,
        "fidelity": offers and offers.expected_fidelity.value,
        "lossless": is_lossless(health),
        "running": health.load.running,
        "acceptance": health.acceptance and _acceptance(health.acceptance),
    }


def _acceptance(acceptance: Acceptance) -> dict[str, Any]:
    return {
        "over_s": round(acceptance.over_s, 3),
        "num_draft_tokens": acceptance.num_draft_tokens,
        "num_accepted_tokens": acceptance.num_accepted_tokens,
        "draft_acceptance_rate": acceptance.draft_acceptance_rate,
    }
