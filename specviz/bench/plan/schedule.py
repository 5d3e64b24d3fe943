"""A plan laid out in time: groups of servers, stages, rounds and interleaved blocks.

    group      arms whose servers are up side by side
    stage      one temperature, load and repetition, on all arms of the group that have it
    round      one arm's pass over the prompts in a stage
    block      some of the prompts, on one arm after the other: A B B A …

Arms that alternate in short blocks see the same drifts of the machine, so that a comparison of
two arms compares methods and not minutes.
"""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from specviz.bench.load.load import Load
from specviz.bench.load.places import Place, places
from specviz.bench.load.traffic import Traffic
from specviz.bench.plan.plan import Plan
from specviz.methods import Method
from specviz.prompts.sets import Conversation

BLOCK_ROUNDS = 4
"""A block keeps its streams full this many times over, so that filling and draining, which a block
begins and ends with, weigh little."""

MIN_BLOCK = 16
"""Prompts in a block at least, above concurrency 1."""

ARRIVING_S = 10.0
"""Requests arrive in a block for so long on average: the first of them find an idle server."""

_NAMESPACE = uuid.UUID("8d1a1f4e-2a0c-4f6e-9b0e-5b1a5a0c6c1d")


@dataclass(frozen=True, slots=True)
class Stage:
    """One temperature, load and repetition of a group, on its arms that are measured there. A
    repetition of traffic is a pass."""

    group: int
    temperature: float
    load: Load | Traffic
    repetition: int
    arms: tuple[int, ...]

    def round_id(self, benchmark_id: str, arm: int) -> str:
        """The same in every process that takes up the benchmark."""
        return _id(benchmark_id, self.group, arm, self.temperature, self.load, self.repetition)

    def run_id(self, benchmark_id: str, arm: int) -> str:
        """The run of an arm at this temperature and load, whichever repetition or group."""
        return _id(benchmark_id, arm, self.temperature, self.load)


def server_groups(plan: Plan, servers_at_once: int) -> tuple[tuple[int, ...], ...]:
    """Which arms are up side by side.

    Arms without a server of ours are in the first group. Where more than one server fits, the
    baseline's is in every group, so that each method is interleaved with it.
    """
    indices = range(len(plan.arms))
    started = [index for index in indices if plan.arms[index].starts_server]
    others = [index for index in indices if index not in started]
    baselines = [i for i in started if plan.arms[i].config.method is Method.BASELINE]
    shared = baselines if len(baselines) < servers_at_once else []
    rest = [index for index in started if index not in shared]
    room = servers_at_once - len(shared)
    groups = [(*shared, *rest[first : first + room]) for first in range(0, len(rest), room)]
    groups = groups or [tuple(shared)]
    groups[0] = (*others, *groups[0])
    return tuple(tuple(sorted(group)) for group in groups if group)


def stages(plan: Plan, servers_at_once: int) -> tuple[Stage, ...]:
    """Every stage of the plan in the order in which it is measured."""
    found: list[Stage] = []
    measured: set[int] = set()
    for number, group in enumerate(server_groups(plan, servers_at_once)):
        new = [index for index in group if index not in measured]  # not a baseline once more
        measured.update(group)
        cells = dict.fromkeys(cell for index in new for cell in plan.cells(plan.arms[index]))
        for temperature, load in cells:
            arms = tuple(
                index for index in group if (temperature, load) in plan.cells(plan.arms[index])
            )
            found += [
                Stage(number, temperature, load, repetition, arms)
                for repetition in range(plan.repetitions)
            ]
    return tuple(found)


def asked(
    plan: Plan, stage: Stage, conversations: Sequence[Conversation]
) -> tuple[tuple[int, Place | None], ...]:
    """The prompts of a round by index, in their order, with their places where it is a pass.

    Raises UsageError where the prompts do not suffice for a pass.
    """
    if isinstance(stage.load, Traffic):
        found = places(stage.load, conversations, plan.seed, stage.repetition)
        return tuple((place.prompt_index, place) for place in found)
    return tuple((index, None) for index in range(len(conversations)))


def planned_requests(
    plan: Plan, servers_at_once: int, conversations: Sequence[Conversation]
) -> Counter[int]:
    """Requests that the plan asks for, by arm: every turn is one. Raises as `asked` does."""
    planned: Counter[int] = Counter()
    for stage in stages(plan, servers_at_once):
        each = sum(len(conversations[i].turns) for i, _ in asked(plan, stage, conversations))
        planned.update(dict.fromkeys(stage.arms, each))
    return planned


def blocks(num_prompts: int, load: Load | Traffic) -> list[range]:
    """The prompts of a round cut into blocks of nearly the same size.

    One prompt each at concurrency 1. With Poisson arrivals blocks too, since only blocks are
    independent of each other: busy periods of one block share the machine's slow moments, and
    intervals over them would be too narrow (`benchmarks/coverage/`). A pass of traffic is one.
    """
    if isinstance(load, Traffic):
        return [range(num_prompts)]
    if load.concurrency == 1:
        return [range(index, index + 1) for index in range(num_prompts)]
    if load.request_rate is not None:
        size = math.ceil(ARRIVING_S * load.request_rate)
    else:
        assert load.concurrency is not None
        size = BLOCK_ROUNDS * load.concurrency
    count = max(1, num_prompts // max(MIN_BLOCK, size))
    cuts = [num_prompts * number // count for number in range(count + 1)]
    return [range(begin, end) for begin, end in pairwise(cuts)]


def turns_of_arms(arms: Sequence[int], block: int) -> Sequence[int]:
    """The order of the arms in a block: forwards, then backwards, and so on."""
    return arms if block % 2 == 0 else arms[::-1]


def _id(*parts: object) -> str:
    return uuid.uuid5(_NAMESPACE, "/".join(map(str, parts))).hex
