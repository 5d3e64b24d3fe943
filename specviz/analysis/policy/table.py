"""A sweep over K, load and temperature in, a table of decisions out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from specviz.analysis.benchmark.families import Family
from specviz.analysis.policy.comparison import compare
from specviz.analysis.policy.decision import Decision, decide
from specviz.analysis.policy.objective import Objective
from specviz.analysis.policy.predicted import stretched, tokens_per_step
from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.policy.policy import Basis, Policy, Row

HOLD_STEPS = 16
"""Engine steps at another load before K changes."""

Place = tuple[float, int]
"""Temperature and concurrency."""


@dataclass(frozen=True, slots=True)
class PolicyTable:
    """Decisions by temperature, ascending, then concurrency, ascending; every cell has one.

    The last row, temperature None, is for everything above and carries on the row before it.
    `notes`: what of the benchmark is not in the table, and why.
    """

    method: str
    ks: tuple[int, ...]
    objective: Objective
    rows: tuple[tuple[Decision, ...], ...]
    notes: tuple[str, ...] = ()

    def policy(self, hold_steps: int = HOLD_STEPS) -> Policy:
        """As a scheduler takes it. Its K is the largest of the table, because a server drafts as
        many at every step that drafts; where all are 0, the largest that was measured."""
        used = max(one.k for row in self.rows for one in row)
        return Policy(
            num_speculative_tokens=used or max(self.ks),
            requests_running=tuple(one.concurrency for one in self.rows[0]),
            hold_steps=hold_steps,
            rows=tuple(
                Row(
                    k=tuple(one.k for one in row),
                    basis=tuple(one.basis for one in row),
                    temperature=row[0].temperature,
                )
                for row in self.rows
            ),
        )


def policy_table(family: Family, samples: pd.DataFrame, objective: Objective) -> PolicyTable:
    """The table of one method's Ks. K = 0 competes: the method's own server held at 0, or its
    baseline where that was not measured.

    `samples` has one row per request, see `benchmark.summary.summarise`; those in the figures only.
    Raises UsageError where the method was measured nowhere next to plain decoding, and where no
    temperature has a K for every load.
    """
    measured = _measured(family, samples)
    decisions = {
        place: decide(found, objective, *place)
        for place, arms in measured.items()
        if 0 in arms and (found := compare(_drafting(arms), arms[0], objective)) is not None
    }
    if not decisions:
        raise UsageError(_nothing(family, objective))
    loads = sorted({concurrency for _, concurrency in decisions})
    notes = _of_zero(family) + _left_out(samples, measured, loads)
    rows = []
    for temperature in sorted({temperature for temperature, _ in measured}):
        row = [
            decisions.get((temperature, load))
            or _predicted(measured, decisions, (temperature, load), objective)
            for load in loads
        ]
        known = tuple(one for one in row if one is not None)
        if len(known) == len(loads):
            rows.append(known)
        else:
            notes.append(
                f"Temperature {temperature:g} is left out: it was not measured at every load, and "
                "its steps were not counted, so that nothing can be predicted."
            )
    if not rows:
        raise UsageError(_gaps(family, loads))
    ks = tuple(sorted({arm.k for arm in family.arms if arm.k}))
    carried = tuple(_carried_on(one) for one in rows[-1])
    return PolicyTable(family.arms[0].method, ks, objective, (*rows, carried), tuple(notes))


def at_any_temperature(samples: pd.DataFrame) -> pd.DataFrame:
    """All temperatures as one, the highest; a prompt at two of them is two prompts."""
    return samples.assign(
        temperature=samples["temperature"].max(),
        prompt_index=samples.groupby(["temperature", "prompt_index"], dropna=False).ngroup(),
    )


def _measured(family: Family, samples: pd.DataFrame) -> dict[Place, dict[int, pd.DataFrame]]:
    """Finished requests by place and K, where one of the Ks was measured."""
    k_of = {arm.arm_index: arm.k for arm in family.arms if arm.k}
    zero = family.at_zero.arm_index if family.at_zero else family.arms[0].baseline
    if zero is not None:
        k_of[zero] = 0
    closed = samples[(samples["status"] == "finished") & samples["concurrency"].notna()]
    mine = closed[closed["arm_index"].isin(list(k_of))]
    found: dict[Place, dict[int, pd.DataFrame]] = {}
    for (arm, temperature, load), frame in mine.groupby(
        ["arm_index", "temperature", "concurrency"]
    ):
        found.setdefault((float(temperature), int(load)), {})[k_of[int(arm)]] = frame
    return {place: arms for place, arms in found.items() if any(arms)}


def _drafting(arms: Mapping[int, pd.DataFrame]) -> dict[int, pd.DataFrame]:
    return {k: frame for k, frame in arms.items() if k}


def _predicted(
    measured: Mapping[Place, Mapping[int, pd.DataFrame]],
    decisions: Mapping[Place, Decision],
    place: Place,
    objective: Objective,
) -> Decision | None:
    """From the nearest temperature that was measured at this load, and for each K the nearest load
    at which this temperature was with as many drafts; None where steps were not counted."""
    temperature, load = place
    source = next(iter(_nearest([one for one in decisions if one[1] == load], place)), None)
    if source is None:
        return None
    known = {
        one[1]: _drafting(measured[one])
        for one in _nearest([one for one in measured if one[0] == temperature], place)
    }
    arms, steps_at = {}, set()
    for k, frame in _drafting(measured[source]).items():
        there = tokens_per_step(_drafting(measured[source]), k)
        nearby = ((at, tokens_per_step(measured_there, k)) for at, measured_there in known.items())
        at, here = next(((at, tokens) for at, tokens in nearby if tokens), (load, None))
        if there and here:
            arms[k] = stretched(frame, there / here)
            steps_at.add(at)
    found = compare(arms, measured[source][0], objective)
    if found is None:
        return None
    # its interval would hold the noise of the neighbours, and not the error of the prediction
    guess = decide(replace(found, prompts=0), objective, temperature, load)
    return replace(
        guess,
        basis=Basis.PREDICTED,
        prompts=found.prompts,
        rests_on=f"step times of temperature {source[0]:g} at {load}, steps of temperature "
        f"{temperature:g} at {', '.join(map(str, sorted(steps_at)))}",
    )


def _nearest(places: Sequence[Place], to: Place) -> list[Place]:
    """All of them, the nearest first."""
    return sorted(places, key=lambda one: (abs(one[0] - to[0]), abs(one[1] - to[1]), one))


def _carried_on(last: Decision) -> Decision:
    return replace(
        last,
        temperature=None,
        basis=Basis.PREDICTED,
        rests_on=f"nothing was measured above temperature {last.temperature:g}, its K is used",
    )


def _of_zero(family: Family) -> list[str]:
    first = family.arms[0]
    if family.at_zero is not None:
        return ["K = 0 was measured on a server that could draft, as a policy's 0 is."]
    if first.engine != EngineKind.VLLM:
        return []
    return [
        "K = 0 was measured on a server without speculation. A policy's 0 can be slower, because a "
        f"draft model goes on reading: an arm with K = {family.arms[-1].k} and schedule = "
        "[[1, 256, 0]] measures it."
    ]


def _left_out(
    samples: pd.DataFrame, measured: Mapping[Place, object], loads: list[int]
) -> list[str]:
    notes = []
    if samples["concurrency"].isna().any():
        notes.append(
            "Poisson arrivals are left out: how many requests were running is not known for them."
        )
    if unused := sorted({load for _, load in measured} - set(loads)):
        notes.append(
            f"Concurrency {', '.join(map(str, unused))} is left out: K = 0 was not measured there."
        )
    return notes


def _gaps(family: Family, loads: Sequence[int]) -> str:
    return (
        f"No temperature of {family.label} was measured next to plain decoding at every load "
        f"({', '.join(map(str, loads))}), and steps were not counted, so that the gaps cannot be "
        "predicted: measure every load at one temperature."
    )


def _nothing(family: Family, objective: Objective) -> str:
    if family.arms[0].baseline is None:
        return (
            f"The benchmark has no plain decoding to compare {family.label} with: add an arm with "
            'method = "baseline" on the same engine and model.'
        )
    return (
        f"Nothing compares {family.label} with plain decoding by {objective.name}: both must have "
        "answered the same prompts at one temperature and concurrency, with known lengths."
    )
