"""Every smaller K from one run at the largest: by its steps cut short, or by an exact redraft.

Cut short: a step that had `a` of its first tokens accepted would have had min(a, K) accepted with
K of them, so that acceptance by position carries over unchanged. What changes is where the next
draft begins, and acceptance there; that is the error of this prediction. A redraft has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specviz.analysis.k.answers import Answer, Key
from specviz.analysis.k.redraft import Redraft, steps_at
from specviz.analysis.k.step_cost import StepCost

RESAMPLES = 1000
SEED = 20
PROMPTS_NEEDED = 5
"""Fewer prompts give no interval."""

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and its 95 % interval over prompts; None for fewer prompts than that needs."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one K would give. `mean_acceptance_length`: tok/step; `draft_acceptance_rate`: accepted
    of drafted, 0-1; `tpot_ms`: after the first token, token-weighted, None without step times;
    `speedup` over plain decoding in total time, None without a baseline too."""

    k: int
    mean_acceptance_length: Estimate
    draft_acceptance_rate: Estimate
    tpot_ms: Estimate | None
    speedup: Estimate | None


def predict(
    run: Sequence[Answer],
    baseline: Mapping[Key, Answer],
    cost: StepCost | None,
    ks: Sequence[int],
    redrafts: Mapping[Key, Redraft] | None = None,
) -> tuple[Prediction, ...]:
    """One prediction per K, over the answers that drafted and, where there is a baseline at all,
    have one. `redrafts` None cuts the run's steps short. Step times agree with the run at its own
    K, and with the baseline where both know plain decoding; in between they bend as `cost` does.
    Nothing that could be counted: no predictions.
    """
    usable = [
        answer
        for answer in run
        if answer.drafted
        and (not baseline or answer.key in baseline)
        and (redrafts is None or answer.key in redrafts)
    ]
    if not usable:
        return ()
    prompts = sorted({answer.key[0] for answer in usable})
    weights = _resamples(len(prompts))[:, [prompts.index(answer.key[0]) for answer in usable]]
    own = weights @ np.array([_own(answer, baseline) for answer in usable])
    return tuple(
        _prediction(k, own, weights @ np.array([_counts(a, k, redrafts) for a in usable]), cost,
                    timed=bool(baseline))
        for k in ks
    )  # fmt: skip


def _own(answer: Answer, baseline: Mapping[Key, Answer]) -> tuple[float, ...]:
    """What the run itself did: steps, drafts, draft tokens, ms of the steps, first tokens' ms,
    tokens behind the first, the baseline's ms, its ms and steps behind the first token."""
    other = baseline.get(answer.key)
    return (
        answer.num_steps,
        len(answer.drafted),
        sum(answer.drafted),
        answer.e2el_ms - answer.ttft_ms,
        answer.ttft_ms,
        answer.output_tokens - 1,
        other.e2el_ms if other else 0.0,
        other.e2el_ms - other.ttft_ms if other else 0.0,
        other.num_steps if other else 0.0,
    )


def _counts(answer: Answer, k: int, redrafts: Mapping[Key, Redraft] | None) -> tuple[float, ...]:
    """With K = k: drafts, draft tokens, accepted tokens, tokens that the steps cover, steps (of a
    cut: NaN, unknown)."""
    if redrafts is not None:
        redrafted = steps_at(redrafts[answer.key], k)
        return (
            len(redrafted.drafted), sum(redrafted.drafted), sum(redrafted.accepted), np.nan,
            redrafted.num_steps,
        )  # fmt: skip
    return (
        len(answer.drafted),
        sum(min(drafted, k) for drafted in answer.drafted),
        sum(min(accepted, k) for accepted in answer.accepted),
        answer.output_tokens - 1 + min(_excess(answer), k),
        np.nan,
    )


def _excess(answer: Answer) -> int:
    """Tokens that the last step gave beyond the end of the answer; one of K gives at most K."""
    return max(0, sum(answer.accepted) + answer.num_steps - (answer.output_tokens - 1))


def _prediction(
    k: int, own: Counts, counts: Counts, cost: StepCost | None, *, timed: bool
) -> Prediction:
    """`own` [resamples + 1, 9] and `counts` [resamples + 1, 5] as above; row 0: all prompts."""
    steps, run_drafts, run_drafted, spent_ms, first_ms, tokens = own.T[:6]
    baseline_ms, plain_ms, plain_steps = own.T[6:]
    num_drafts, num_draft_tokens, num_accepted, covered, redrafted_steps = counts.T
    # cut short, a step gives fewer tokens, and more steps cover what the answers need
    shorter = steps * covered / (num_accepted + steps)
    known = np.isfinite(redrafted_steps)
    num_steps = np.where(known, redrafted_steps, shorter)
    of = np.where(known, redrafted_steps, steps)
    tpot = speedup = None
    if cost is not None:
        plain = plain_ms / plain_steps if timed else None
        then = _mean_step(cost, num_drafts / of, num_draft_tokens / of)
        now = _mean_step(cost, run_drafts / steps, run_drafted / steps)
        behind_ms = num_steps * _step_ms(cost.plain_ms, then, now, spent_ms / steps, plain)
        tpot = _estimate(behind_ms / tokens)
        speedup = _estimate(baseline_ms / (first_ms + behind_ms)) if timed else None
    return Prediction(
        k=k,
        mean_acceptance_length=_estimate(1 + num_accepted / num_drafts),
        draft_acceptance_rate=_estimate(num_accepted / num_draft_tokens),
        tpot_ms=tpot,
        speedup=speedup,
    )


def _mean_step(cost: StepCost, drafting: Counts, drafted: Counts) -> Counts:
    """ms that `cost` gives a step, of which the share `drafting` drafts, `drafted` tokens on the
    mean of all; those without a draft do not pay for drafting."""
    saved = 0.0 if cost.plain_ms is None else cost.fixed_ms - cost.plain_ms
    return cost.at(drafted) - (1 - drafting) * saved


def _step_ms(
    cost_plain: float | None, then: Counts, now: Counts, run_ms: Counts, plain_ms: Counts | None
) -> Counts:
    """ms of a step that costs `then`: the cost moved and stretched so that it passes through the
    run's own step, which costs `now`, and plain decoding's, or stretched through the run's alone.
    """
    if cost_plain is None or plain_ms is None:
        return run_ms * then / now
    return plain_ms + (run_ms - plain_ms) / (now - cost_plain) * (then - cost_plain)


def _resamples(prompts: int) -> Counts:
    """How often each prompt counts: once in row 0, as drawn in the others; only row 0 for few."""
    once = np.ones((1, prompts))
    if prompts < PROMPTS_NEEDED:
        return once
    rng = np.random.default_rng(SEED)
    drawn = rng.multinomial(prompts, np.full(prompts, 1 / prompts), RESAMPLES)
    return np.concatenate([once, drawn])


def _estimate(values: Counts) -> Estimate:
    """Row 0 and the 95 % percentile interval of the others."""
    value = float(values[0])
    resampled = values[1:][np.isfinite(values[1:])]
    if not len(resampled):
        return Estimate(value, None, None)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Estimate(value, float(low), float(high))
