"""From two servers to the report, line by line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from specviz.config import EngineKind
from specviz.methods import Method
from specviz.models.pair import pair_of
from specviz.servers.kinds import launcher_of
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import ServerPool
from specviz.verify.asking import Note, Size, ask_baseline, ask_speculating
from specviz.verify.checks.counts import counts
from specviz.verify.checks.greedy import greedy, own_rounding
from specviz.verify.checks.identity import identity
from specviz.verify.checks.runner import runner
from specviz.verify.checks.sampled import sampled
from specviz.verify.checks.timing import timing
from specviz.verify.checks.tracing import tracing_cost
from specviz.verify.checks.verdicts import verdicts
from specviz.verify.checks.verifier import verifier
from specviz.verify.evidence import Answered, Speculated
from specviz.verify.finding import Finding


@dataclass(frozen=True, slots=True)
class Pair:
    """The baseline and the speculating server: a URL, or what is to be started."""

    baseline: str | ServerSpec
    speculating: str | ServerSpec
    model: str | None = None


def pair_to_start(
    engine: EngineKind,
    method: Method,
    model: str | None,
    draft: str | None,
    k: int | None,
    note: Note,
) -> Pair:
    """Servers of a model, by default the usual one, without and with its draft. Raises
    UsageError."""
    launcher, models = launcher_of(engine), pair_of(model, draft, method, note)
    speculating = ServerSpec(launcher, models.target, method, models.draft, k)
    return Pair(ServerSpec(launcher, models.target), speculating)


def verify(pair: Pair, size: Size, pool: ServerPool, note: Note) -> Iterator[Finding]:
    """Every finding as soon as it is known. Raises an EngineError or UsageError.

    A server that is started runs alone: two would not fit on one GPU.
    """
    url = _running(pair.baseline, pool, note)
    plain = asyncio.run(ask_baseline(url, pair.model, size, note))
    if isinstance(pair.baseline, ServerSpec):
        pool.stop(pair.baseline)
    url = _running(pair.speculating, pool, note)
    found = asyncio.run(ask_speculating(url, pair.model, size, note))
    yield from findings(plain, found, size)


def findings(plain: Answered, found: Speculated, size: Size) -> Iterator[Finding]:
    """Every line of the report, in its order."""
    other = found.answered
    held_out = slice(size.prompts)
    unusual = slice(size.prompts, None)
    rounding = own_rounding(plain)
    yield identity(plain.server, other.server)
    yield runner(plain.server, other.server)
    yield verifier(other.server)
    yield counts(found)
    yield verdicts(found)
    yield greedy(
        "greedy", "Greedy answers equal the baseline's", plain.greedy[held_out],
        other.greedy[held_out], rounding,
    )  # fmt: skip
    yield greedy(
        "unusual tokens", "Unusual characters come through", plain.greedy[unusual],
        other.greedy[unusual], rounding,
    )  # fmt: skip
    yield sampled(plain, other, size.temperature)
    yield tracing_cost(found)
    yield timing(other.server.dialect.name, found.timing)


def _running(server: str | ServerSpec, pool: ServerPool, note: Note) -> str:
    return server if isinstance(server, str) else pool.ensure(server, note).url
