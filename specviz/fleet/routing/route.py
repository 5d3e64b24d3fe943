"""Which named servers a proxy sends requests to, and the rule that it follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.fleet.document import server_in
from specviz.policy.policy import Policy
from specviz.store.named_servers import NamedServer

REFUSED = {EngineKind.VLLM: ("logit_bias", "min_p")}
"""Sampling parameters that servers of a kind refuse while they speculate (vLLM 0.32 and 0.33,
`sampling_params.py`). A proxy sends such requests to a plain server."""


@dataclass(frozen=True, slots=True)
class Route:
    """Servers of one model. `refused`: parameters that only the plain ones take."""

    model: str
    plain: tuple[NamedServer, ...]
    speculating: tuple[NamedServer, ...]
    refused: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: servers by their names."""
        return {
            "model": self.model,
            "plain": [server.name for server in self.plain],
            "speculating": [server.name for server in self.speculating],
            "refused": list(self.refused),
        }


@dataclass(frozen=True, slots=True)
class RoutingRow:
    """Requests with temperature and top-p at most these (None: any), and for each column of
    requests running whether they go to a speculating server."""

    temperature: float | None
    top_p: float | None
    speculates: tuple[bool, ...]


def route_of(fleet: Mapping[str, Any]) -> Route:
    """The servers with a plain one, and those plain ones. `fleet`: its `document`, just checked.

    Raises UsageError where there are none, where one of them does not answer, does not say its
    model, or where they serve different models.
    """
    found = {server["name"]: server for server in fleet["servers"]}
    plain = [server for server in found.values() if server["baseline_of"] in found]
    has_plain = {server["baseline_of"] for server in plain}
    speculating = [server for server in found.values() if server["name"] in has_plain]
    if not plain:
        raise UsageError(
            "No server of the fleet is the plain one of another: add it with `specviz servers add "
            "NAME URL --baseline-of NAME`."
        )
    models = {server["name"]: _model(server) for server in (*plain, *speculating)}
    if len(set(models.values())) > 1:
        said = ", ".join(f"{name} serves {model}" for name, model in models.items())
        raise UsageError(f"A proxy needs one model under one name: {said}.")
    for server in speculating:
        _check_speculates(server)
    kinds = {EngineKind(server["health"]["kind"]) for server in speculating}
    return Route(
        next(iter(models.values())),
        tuple(map(server_in, plain)),
        tuple(map(server_in, speculating)),
        tuple(sorted({name for kind in kinds for name in REFUSED.get(kind, ())})),
    )


def routing_rows(policy: Policy) -> tuple[RoutingRow, ...]:
    """The rows of a policy as a proxy follows them: a K of 0 is the plain server.

    Rows for a kind of prompt are left out, because a request does not say its kind.
    """
    return tuple(
        RoutingRow(row.temperature, row.top_p, tuple(k > 0 for k in row.k))
        for row in policy.rows
        if row.category is None
    )


def _model(server: Mapping[str, Any]) -> str:
    health = server["health"]
    if health is None or not health["reachable"]:
        problem = health["problem"] if health else ""
        raise UsageError(
            f"{server['name']} does not answer, so its model is not known. {problem}".rstrip()
        )
    return str(health["model"])


def _check_speculates(server: Mapping[str, Any]) -> None:
    if server["health"]["speculates"] is False:
        raise UsageError(
            f"{server['name']} has a plain server next to it, but does not speculate: give it a "
            "drafting method, or remove the plain one."
        )
