"""Passes of traffic in, figures of its phases out.

The unit of an interval is a pass: one arm's way through the whole load. Within a pass everything
hangs together, because a phase begins with what the one before left in flight. Arms are compared
pass by pass, as they got the same requests at the same temperatures in each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from specviz.analysis.benchmark.goodput import meets
from specviz.analysis.benchmark.phases.figures import Compared, Estimate, Gain, PhaseFigures
from specviz.analysis.benchmark.phases.shape import Shape
from specviz.analysis.benchmark.results import ArmState, Slo
from specviz.analysis.interval import Array, ratio_interval, total_interval

Pass = tuple[int, int]
"""The group of servers that were up, and the repetition."""


class Totals(NamedTuple):
    """Sums of one pass in one phase; every figure is one of them over another. NaN: not known."""

    seconds: float
    met: float
    ended_tokens: float
    answered: float
    ttft_ms: float
    decode_ms: float
    decoded_tokens: float
    accepted: float
    drafted: float
    requests: float
    failed: float


class Figure(NamedTuple):
    """`over` / `per`, and whether more of it is better."""

    over: str
    per: str
    more_is_better: bool = True


FIGURES = {
    "request_goodput": Figure("met", "seconds"),
    "output_throughput": Figure("ended_tokens", "seconds"),
    "ttft_ms": Figure("ttft_ms", "answered", more_is_better=False),
    "tpot_ms": Figure("decode_ms", "decoded_tokens", more_is_better=False),
    "draft_acceptance_rate": Figure("accepted", "drafted"),
}
COMPARED = ("request_goodput", "tpot_ms", "ttft_ms")


@dataclass(frozen=True, slots=True)
class _Slice:
    """A part of traffic: a phase or all of it, all temperatures or one."""

    phase: int | None
    temperature: float | None


def phase_figures(
    arms: Sequence[ArmState], samples: pd.DataFrame, shapes: Sequence[Shape], slo: Slo
) -> tuple[PhaseFigures, ...]:
    """Every arm with a finished pass, in the whole and in each phase, and at each temperature.

    `samples` as `summarise` takes them, with `traffic`, `phase` and the block's `phase_ms`. A pass
    counts once all its requests have been sent and have ended.
    """
    if "traffic" not in samples:
        return ()
    found: list[PhaseFigures] = []
    for shape in shapes:
        mine = _with_marks(samples[samples["traffic"] == shape.name], slo)
        for part in _slices(mine, shape):
            found += _of_slice(arms, shape, part, _totals(mine, shape, part))
    return tuple(found)


def _with_marks(samples: pd.DataFrame, slo: Slo) -> pd.DataFrame:
    """With `end_ms` since the block began, `is_done`, and `met`: 1, 0 or NaN for not known."""
    tokens = samples["output_tokens"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    is_done = samples["status"] == "finished"
    good = meets(samples[is_done], slo)
    return samples.assign(
        end_ms=samples["sent_ms"] + samples["e2el_ms"],
        is_done=is_done,
        tokens=tokens,
        met=np.nan if good is None else good.astype(float).reindex(samples.index),
    )


def _slices(samples: pd.DataFrame, shape: Shape) -> Iterator[_Slice]:
    temperatures = [float(one) for one in sorted(samples["temperature"].dropna().unique())]
    for phase in (None, *range(len(shape.phases))):
        yield _Slice(phase, None)
        if len(temperatures) > 1:
            yield from (_Slice(phase, temperature) for temperature in temperatures)


def _totals(samples: pd.DataFrame, shape: Shape, part: _Slice) -> dict[int, dict[Pass, Totals]]:
    """By arm and pass; only whole passes."""
    found: dict[int, dict[Pass, Totals]] = defaultdict(dict)
    for round_id, rows in samples.groupby("round_id", sort=False):
        begins = rows["phase_ms"].iloc[0]
        if len(rows) != shape.requests.get(str(round_id)) or begins is None:
            continue
        first = rows.iloc[0]
        key = (int(first["server_group"]), int(first["repetition"]))
        found[int(first["arm_index"])][key] = _sums(rows, list(begins), part)
    return found


def _sums(rows: pd.DataFrame, begins: Sequence[float], part: _Slice) -> Totals:
    if part.phase is None:
        begin_ms, end_ms = begins[0], begins[-1]
        sent = rows
    else:
        begin_ms, end_ms = begins[part.phase], begins[part.phase + 1]
        sent = rows[rows["phase"] == part.phase]
    is_last = end_ms == begins[-1]
    in_time = (rows["end_ms"] >= begin_ms) & ((rows["end_ms"] < end_ms) | is_last)
    ended = rows[rows["is_done"] & in_time]
    if part.temperature is not None:
        sent = sent[sent["temperature"] == part.temperature]
        ended = ended[ended["temperature"] == part.temperature]
    done = sent[sent["is_done"]]
    timed = done[done["tpot_ms"] > 0]  # answers of one chunk have none
    decode_ms = timed["e2el_ms"] - timed["ttft_ms"]
    return Totals(
        seconds=(end_ms - begin_ms) / 1000,
        met=_sum(ended["met"]),
        ended_tokens=_sum(ended["tokens"]),
        answered=len(done),
        ttft_ms=_sum(done["ttft_ms"]),
        decode_ms=float(decode_ms.sum()),
        decoded_tokens=float((decode_ms / timed["tpot_ms"]).sum()),
        accepted=_sum(done["num_accepted_tokens"]),
        drafted=_sum(done["num_draft_tokens"]),
        requests=len(sent),
        failed=len(sent) - len(done),
    )


def _sum(values: pd.Series) -> float:
    """NaN where one of them is not known, so that no sum is too small."""
    known = values.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    return float(known.sum())


def _of_slice(
    arms: Sequence[ArmState],
    shape: Shape,
    part: _Slice,
    totals: Mapping[int, Mapping[Pass, Totals]],
) -> Iterator[PhaseFigures]:
    for arm in arms:
        mine = totals.get(arm.arm_index)
        if not mine or not sum(one.requests for one in mine.values()):
            continue
        yield replace(
            _figures(arm, shape, part, list(mine.values())),
            compared=tuple(
                _compared(other.arm_index, mine, totals[other.arm_index])
                for other in arms
                if other.arm_index != arm.arm_index
                and (other.engine, other.model) == (arm.engine, arm.model)
                and totals.get(other.arm_index)
            ),
        )


def _figures(arm: ArmState, shape: Shape, part: _Slice, passes: Sequence[Totals]) -> PhaseFigures:
    requests = int(sum(one.requests for one in passes))
    drafted = sum(one.drafted for one in passes)
    estimates = {name: _estimate(figure, passes, requests) for name, figure in FIGURES.items()}
    return PhaseFigures(
        arm=arm.arm,
        arm_index=arm.arm_index,
        traffic=shape.name,
        phase=part.phase,
        load=None if part.phase is None else shape.phases[part.phase],
        temperature=part.temperature,
        passes=len(passes),
        requests=requests,
        failed=int(sum(one.failed for one in passes)),
        seconds=sum(one.seconds for one in passes),
        num_draft_tokens=None if np.isnan(drafted) else int(drafted),
        compared=(),
        **estimates,
    )


def _estimate(figure: Figure, passes: Sequence[Totals], requests: int) -> Estimate | None:
    totals = _columns(figure, passes)
    over, per = totals.sum(axis=0)
    if np.isnan(over) or not per > 0:
        return None
    ends = total_interval(totals, requests)
    low, high = ends or (None, None)
    return Estimate(float(over / per), low, high)


def _compared(against: int, mine: Mapping[Pass, Totals], theirs: Mapping[Pass, Totals]) -> Compared:
    """Over the passes that both finished: side by side where they were, else by repetition."""
    if not mine.keys() & theirs.keys():
        mine, theirs = _by_repetition(mine), _by_repetition(theirs)
    common = sorted(mine.keys() & theirs.keys())
    ours, others = [mine[key] for key in common], [theirs[key] for key in common]
    gains = {name: _gain(FIGURES[name], ours, others) for name in COMPARED}
    return Compared(against, len(common), **gains)


def _by_repetition(passes: Mapping[Pass, Totals]) -> dict[Pass, Totals]:
    """Those of several groups of servers added up."""
    found: dict[Pass, Totals] = {}
    for (_, repetition), totals in passes.items():
        before = found.get((0, repetition))
        pairs = zip(before, totals, strict=True) if before else ()
        found[0, repetition] = Totals(*(a + b for a, b in pairs)) if before else totals
    return found


def _gain(figure: Figure, mine: Sequence[Totals], theirs: Sequence[Totals]) -> Gain | None:
    if not mine:
        return None
    better, other = _columns(figure, mine), _columns(figure, theirs)
    if not figure.more_is_better:
        better, other = other, better
    totals = np.concatenate([other, better], axis=1)
    sums = totals.sum(axis=0)
    if not (sums > 0).all():
        return None
    requests = int(min(sum(one.requests for one in mine), sum(one.requests for one in theirs)))
    ends = ratio_interval(totals, requests)
    low, high = ends or (None, None)
    return Gain(float((sums[2] / sums[3]) / (sums[0] / sums[1])), low, high)


def _columns(figure: Figure, passes: Sequence[Totals]) -> Array:
    """[passes, 2]: what is counted, and what it is per."""
    return np.array(
        [[getattr(one, figure.over), getattr(one, figure.per)] for one in passes], dtype=float
    )
