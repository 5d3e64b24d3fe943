"""Every smaller K from one run at the largest: by its steps cut short, or by an exact redraft.

Cut short: a step that had `a` of its first tokens accepted would have had min(a, K) accepted with
K of them, so that acceptance by position carries over unchanged. What changes is where the next
draft begins, and acceptance there; that is the error of this prediction. A redraft has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from specviz.analysis.interval import (
    PROMPTS_NEEDED,
    UNITS_NEEDED,
    Replicates,
    by_unit,
    left_out,
    shares_of,
    units_of,
)
from specviz.analysis.k.answers import Answer, Key
from specviz.analysis.k.own_error import steps_error, time_error
from specviz.analysis.k.redraft import Redraft, steps_at
from specviz.analysis.k.step_cost import StepCost

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and its 95 % interval; None for fewer prompts than that needs. Of a prediction it
    contains the prediction's own error too."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one K would give. `mean_acceptance_length`: tok/step; `draft_acceptance_rate`: accepted
    of drafted, 0-1; `tpot_ms`: after the first token, token-weighted, None without step times;
    `speedup` over plain decoding in total time, None without a baseline too. `log_speedup`: its
    replicates, None for too few of the `prompts`."""

    k: int
    mean_acceptance_length: Estimate
    draft_acceptance_rate: Estimate
    tpot_ms: Estimate | None
    speedup: Estimate | None
    log_speedup: Replicates | None = field(default=None, compare=False, repr=False)
    prompts: int = 0


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
    sample = _Sample.of(usable, baseline)
    own = sample.sums([_own(answer, baseline) for answer in usable])
    largest = max(max(answer.drafted) for answer in usable)
    return tuple(
        _prediction(
            k,
            own,
            sample.sums([_counts(answer, k, redrafts) for answer in usable]),
            cost,
            sample,
            timed=bool(baseline),
            cut_to=k / largest if redrafts is None else None,
            timed_at=k / largest,
        )
        for k in ks
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    """What the intervals rest on: the unit of each answer, prompts that shared a block as one."""

    units: tuple[int, ...]
    prompts: int
    shares: Counts

    @classmethod
    def of(cls, run: Sequence[Answer], baseline: Mapping[Key, Answer]) -> _Sample:
        together = [(one.key[0], one.block or ("alone", one.key[0])) for one in run]
        asked = {prompt for prompt, _ in together}
        others = [one for one in baseline.values() if one.key[0] in asked]
        together += [(one.key[0], one.block or ("alone", one.key[0])) for one in others]
        unit_of = units_of(together)
        units = tuple(unit_of[answer.key[0]] for answer in run)
        spent = by_unit(np.array([[answer.e2el_ms] for answer in run]), [*units])
        return cls(units, len(asked), shares_of(spent[:, 0]))

    def sums(self, rows: Sequence[tuple[float, ...]]) -> Counts:
        """Of all answers and without each unit, [units + 1, columns]; rows: one per answer."""
        return left_out(by_unit(np.array(rows, dtype=float), [*self.units]))

    def replicates(self, values: Counts, own_error: float) -> Replicates | None:
        """Of a figure above 0; None for too few prompts or units."""
        if self.prompts < PROMPTS_NEEDED or len(self.shares) < UNITS_NEEDED or values[0] <= 0:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return Replicates(np.log(values)[:, None], self.shares, np.array([own_error]))

    def estimate(self, values: Counts, own_error: float, most: float = np.inf) -> Estimate:
        """A figure, its interval and nothing above `most`."""
        value, found = float(values[0]), self.replicates(values, own_error)
        ends = found.ends[0] if found is not None else None
        if ends is None:
            return Estimate(value, None, None)
        low, high = np.exp(ends)
        return Estimate(value, float(low), min(float(high), most))


def _own(answer: Answer, baseline: Mapping[Key, Answer]) -> tuple[float, ...]:
    """What the run itself did: steps, drafts, draft tokens, ms of the steps, first tokens' ms,
    tokens after the first, the baseline's ms, its ms and steps after the first token."""
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
    k: int,
    own: Counts,
    counts: Counts,
    cost: StepCost | None,
    sample: _Sample,
    *,
    timed: bool,
    cut_to: float | None,
    timed_at: float,
) -> Prediction:
    """`own` [units + 1, 9] and `counts` [units + 1, 5] as above; row 0: all answers. `cut_to`: K as
    a share of the run's where its steps are cut short, `timed_at` where its times are moved."""
    steps, run_drafts, run_drafted, spent_ms, first_ms, tokens = own.T[:6]
    baseline_ms, plain_ms, plain_steps = own.T[6:]
    num_drafts, num_draft_tokens, num_accepted, covered, redrafted_steps = counts.T
    with np.errstate(divide="ignore", invalid="ignore"):  # a unit may hold all that was drafted
        # cut short, a step gives fewer tokens, and more steps cover what the answers need
        shorter = steps * covered / (num_accepted + steps)
        known = np.isfinite(redrafted_steps)
        num_steps = np.where(known, redrafted_steps, shorter)
        of = np.where(known, redrafted_steps, steps)
        length, rate = 1 + num_accepted / num_drafts, num_accepted / num_draft_tokens
        tpot = speedup = None
        if cost is not None:
            plain = plain_ms / plain_steps if timed else None
            then = _mean_step(cost, num_drafts / of, num_draft_tokens / of)
            now = _mean_step(cost, run_drafts / steps, run_drafted / steps)
            behind_ms = num_steps * _step_ms(cost.plain_ms, then, now, spent_ms / steps, plain)
            tpot = behind_ms / tokens
            speedup = baseline_ms / (first_ms + behind_ms) if timed else None
    of_steps = steps_error(cut_to, sample.prompts) if cut_to is not None else 0.0
    one_k = cost is not None and cost.one_k
    of_times = float(np.hypot(of_steps, time_error(timed_at, one_k=one_k)))
    of_rate = of_steps * length[0] / (length[0] - 1) if length[0] > 1 else 0.0
    return Prediction(
        k=k,
        mean_acceptance_length=sample.estimate(length, of_steps),
        draft_acceptance_rate=sample.estimate(rate, of_rate, most=1.0),
        tpot_ms=None if tpot is None else sample.estimate(tpot, of_times),
        speedup=None if speedup is None else sample.estimate(speedup, of_times),
        log_speedup=None if speedup is None else sample.replicates(speedup, of_times),
        prompts=sample.prompts,
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
