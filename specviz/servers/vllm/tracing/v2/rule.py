"""From the numbers of a step to what a line says: acceptance probabilities and random numbers.

    standard   accepted if u <= target_prob / draft_prob (arXiv 2211.17192)
    block      the longest prefix of which the last token has u <= h (arXiv 2403.10444): a token
               before it is accepted with it, whatever its own u says
    synthetic  accepted if u is below a rate that was configured, at temperature 0 too
    fly        as standard, and more where the target is undecided: verdicts do not follow from u

`RejectionSampler` and its kernels: `vllm/v1/worker/gpu/spec_decode/` of 0.32 and 0.33.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.servers.vllm.tracing.lines import Judged
from specviz.servers.vllm.tracing.v2.gathered import NUM_FLOATS, NUM_INTS
from specviz.servers.vllm.tracing.v2.uniform import uniform


@dataclass(frozen=True)
class Rule:
    """How this server accepts drafts.

    `rates`: synthetic acceptance per position, if it is on. `mixes_step`: block verification of
    0.33 draws each position's `u` from a seed of its own.
    """

    name: str
    rates: tuple[float, ...] | None = None
    mixes_step: bool = False

    @property
    def is_blockwise(self) -> bool:
        return self.name == "block"


@dataclass(frozen=True)
class Sampling:
    """What the sampler draws with for one request, known on the host."""

    temperature: float
    seed: int
    has_draft_logits: bool
    is_lookup: bool

    @property
    def is_greedy(self) -> bool:
        return self.temperature == 0


def judged(
    rule: Rule,
    sampling: Sampling,
    floats: Sequence[Sequence[float]],
    ints: Sequence[Sequence[int]],
) -> Judged:
    """The draft of one request; it ends at a placeholder. `floats` and `ints` have a row per draft
    token, with the columns of `gathered.Gathered`.

    A token that a grammar has ruled out is rejected without a draw.
    """
    count = next((at for at, row in enumerate(ints) if row[0] < 0), len(ints))
    floats, ints = floats[:count], ints[:count]
    ruled_out = [row[1] < 0 for row in ints]
    draws = rule.rates is not None or not sampling.is_greedy
    return Judged(
        drafted=[row[0] for row in ints],
        target_probs=[math.exp(row[0]) for row in floats],
        draft_probs=_draft_probs(sampling, floats),
        ratios=_accept_probs(rule, floats, ruled_out) if draws else None,
        uniform=[
            None if ruled_out[at] else _u(rule, sampling, at, row[2]) for at, row in enumerate(ints)
        ]
        if draws
        else None,
        top_ids=[list(row[NUM_INTS:]) for row in ints],
        top_probs=[list(row[NUM_FLOATS:]) for row in floats],
    )


def _draft_probs(
    sampling: Sampling, floats: Sequence[Sequence[float]]
) -> list[float | None] | None:
    """The drafter's; None where it keeps none, which above temperature 0 counts as certain."""
    if sampling.has_draft_logits:
        return [math.exp(row[1]) for row in floats]
    return [1.0] * len(floats) if sampling.is_lookup else None


def _u(rule: Rule, sampling: Sampling, at: int, position: int) -> float:
    seed = sampling.seed
    if rule.mixes_step and rule.is_blockwise:
        seed ^= at << 32
    return uniform(seed, position)


def _accept_probs(
    rule: Rule, floats: Sequence[Sequence[float]], ruled_out: Sequence[bool]
) -> list[float]:
    if rule.rates is not None:
        probs = list(rule.rates[: len(floats)])
    elif rule.is_blockwise:
        probs = _prefix_probs(floats, ruled_out)
    else:
        probs = [_ratio(row) for row in floats]
    return [0.0 if out else prob for prob, out in zip(probs, ruled_out, strict=True)]


def _ratio(row: Sequence[float]) -> float:
    """min(1, target_prob / draft_prob) from their logarithms; a token that the target cannot give
    is never accepted."""
    target, draft = row[0], row[1]
    return 0.0 if target == -math.inf else math.exp(min(0.0, target - draft))


def _prefix_probs(floats: Sequence[Sequence[float]], ruled_out: Sequence[bool]) -> list[float]:
    """Block verification's h of every prefix."""
    probs, joint = [], 1.0
    for at, row in enumerate(floats):
        if not ruled_out[at]:
            joint = min(1.0, joint * _unbounded_ratio(row))
        if at + 1 == len(floats) or ruled_out[at + 1]:
            probs.append(joint)
            continue
        residual = floats[at + 1][2]
        weight = residual + 1.0 - joint
        probs.append(residual / weight if weight > 0 else 1.0)
    return probs


def _unbounded_ratio(row: Sequence[float]) -> float:
    """target_prob / draft_prob; more than any prefix can make good is as good as infinite."""
    target, draft = row[0], row[1]
    return 0.0 if target == -math.inf else math.exp(min(700.0, target - draft))
