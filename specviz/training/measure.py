"""Acceptance of a draft on held-out prompts, measured by the embedded engine itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from specviz.analysis.cost.interval import Interval
from specviz.analysis.interval import total_interval
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.embedded.opening import open_engine
from specviz.methods import METHODS, Method
from specviz.trace import Step

K = 5
PROMPTS = 24
ANSWER_TOKENS = 128


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Greedy drafting of a chain: `by_position` is accepted at position 1, 2, … / drafting steps,
    `length` the tokens of a drafting step, the target's own included."""

    prompts: int
    steps: int
    by_position: tuple[Interval, ...]
    length: Interval


def measure(
    target: Path, draft: Path, method: Method, prompts: Sequence[Prompt], device: str
) -> Acceptance:
    """Decode the first `PROMPTS` of `prompts` greedily with the draft in a folder."""
    options = {"device": device} | ({"shape": "chain"} if METHODS[method].has_shapes else {})
    config = RunConfig(
        EngineKind.EMBEDDED,
        method,
        K,
        model=str(target),
        draft=str(draft),
        traced=False,
        options=options,
    )
    engine, _ = open_engine(config)
    asked = prompts[:PROMPTS]
    sampling = Sampling(max_tokens=ANSWER_TOKENS)
    rows = [
        _counts(event for event in engine.events(one, sampling) if isinstance(event, Step))
        for one in asked
    ]
    return folded(np.array(rows, dtype=float))


def _counts(steps: Iterable[Step]) -> list[int]:
    """Counts of one answer: drafting steps, then how many of them accepted position 1, 2, … `K`."""
    accepted = [step.num_accepted for step in steps if step.drafted]
    return [len(accepted), *(sum(one >= place for one in accepted) for place in range(1, K + 1))]


def folded(counts: NDArray[np.float64]) -> Acceptance:
    """From rows of `_counts`, [prompts, 1 + K]. Every prompt is a unit of the intervals."""
    steps, positions = counts[:, 0], counts[:, 1:]
    length = _share(positions.sum(axis=1), steps)
    return Acceptance(
        prompts=len(counts),
        steps=int(steps.sum()),
        by_position=tuple(_share(positions[:, place], steps) for place in range(K)),
        length=length.through(lambda accepted: 1 + accepted),
    )


def _share(accepted: NDArray[np.float64], steps: NDArray[np.float64]) -> Interval:
    ends = total_interval(np.stack([accepted, steps], axis=1), len(steps))
    low, high = ends or (None, None)
    return Interval(float(accepted.sum() / max(1.0, steps.sum())), low, high)
