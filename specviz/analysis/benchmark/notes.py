"""Notes next to the figures: what is missing or limited, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from specviz.analysis.benchmark.acceptance import with_counts
from specviz.analysis.benchmark.disturbance import (
    CLIENT_ONLY,
    NOT_WATCHED,
    disturbance_of,
    disturbed_text,
)
from specviz.analysis.benchmark.quantiles import too_few
from specviz.analysis.benchmark.results import Acceptance, ArmState, Cell, Speedup
from specviz.analysis.benchmark.speedup import TIME_PER_TOKEN
from specviz.analysis.interval import PROMPTS_NEEDED
from specviz.analysis.text import counted
from specviz.methods import Method

MEANS_APART = 0.02
"""Token-weighted and request-mean acceptance further apart than this are explained."""


def cell_notes(cell: Cell, samples: pd.DataFrame, arm: ArmState) -> tuple[str, ...]:
    """One sentence each. `samples`: the cell's finished requests."""
    times = [cell.ttft_ms, cell.tpot_ms, cell.step_ms, cell.e2el_ms, cell.queue_ms]
    notes = [
        disturbed_text([cell]),
        too_few(times),
        _tokens_unknown(samples),
        _thinking(samples),
        _no_answer(samples),
        _one_chunk(cell),
        _mixed_categories(cell),
        _counts_missing(cell, samples),
        _means_apart(cell.acceptance),
        _no_speedup(cell, arm),
        _few_prompts(cell.speedup),
        _unequal_lengths(cell),
    ]
    return tuple(note for note in notes if note)


def result_notes(arms: Sequence[ArmState], samples: pd.DataFrame) -> tuple[str, ...]:
    """What holds for a benchmark as a whole."""
    return tuple(
        (
            *_disturbance(samples),
            *_without_baseline(arms),
            *_prefix_caching(arms),
            *_errors(arms),
            *_failures(arms, samples),
            *_several_groups(arms, samples),
        )
    )


def _tokens_unknown(samples: pd.DataFrame) -> str | None:
    unknown = int(samples["output_tokens"].isna().sum())
    if not unknown:
        return None
    return (
        f"The server did not report the output tokens of {unknown} of {len(samples)} requests: "
        "no throughput."
    )


def _thinking(samples: pd.DataFrame) -> str | None:
    """The second figure, where answers begin behind other output."""
    later = samples.loc[samples["has_side_text"] & samples["ttfo_ms"].notna()]
    if later.empty:
        return None
    return (
        f"{len(later)} of {len(samples)} requests sent other output before the answer or beside it "
        f"(thinking, a tool call), which is counted and timed: the first answer token came after "
        f"{later['ttfo_ms'].median():.3g} ms (median)."
    )


def _no_answer(samples: pd.DataFrame) -> str | None:
    empty = samples.loc[samples["ttfo_ms"].isna() & samples["has_side_text"]]
    if empty.empty:
        return None
    return (
        f"{len(empty)} of {len(samples)} answers have no text: all their output was thinking, tool "
        "calls or refusals. More output tokens may leave room for an answer."
    )


def _one_chunk(cell: Cell) -> str | None:
    if cell.step_ms is not None:
        return None
    missing = "step time" if cell.tpot_ms else "TPOT and no step time"
    return f"No {missing}: no request had more than one chunk."


def _mixed_categories(cell: Cell) -> str | None:
    if cell.category is None or cell.request_throughput is not None:
        return None
    return "No throughput per category: categories ran mixed."


def _counts_missing(cell: Cell, samples: pd.DataFrame) -> str | None:
    if cell.method == Method.BASELINE:
        return None
    silent = len(samples) - len(with_counts(samples))
    if silent:
        return (
            f"Acceptance leaves out {silent} of {len(samples)} requests, which reported no counts."
        )
    if cell.acceptance is None:
        return "Nothing was drafted: there is no acceptance."
    if not cell.acceptance.acceptance_rate_per_pos and cell.acceptance.num_accepted_tokens:
        return "No acceptance by depth: not every request reported its steps."
    return None


def _means_apart(acceptance: Acceptance | None) -> str | None:
    if (
        acceptance is None
        or abs(acceptance.draft_acceptance_rate - acceptance.draft_acceptance_rate_request_mean)
        <= MEANS_APART
    ):
        return None
    return (
        f"Acceptance is {acceptance.draft_acceptance_rate:.2f} over all draft tokens and "
        f"{acceptance.draft_acceptance_rate_request_mean:.2f} as the mean of requests: "
        "requests that drafted more weigh more in the first."
    )


def _no_speedup(cell: Cell, arm: ArmState) -> str | None:
    if cell.speedup is not None or arm.baseline is None or arm.method == Method.BASELINE:
        return None
    return "No speed-up: no prompt has comparable answers of this arm and of its baseline here."


def _few_prompts(speedup: Speedup | None) -> str | None:
    if speedup is None or speedup.low is not None:
        return None
    if speedup.prompts >= PROMPTS_NEEDED:
        return (
            "All prompts ran in one block and share its slow moments: the speed-up has no "
            "interval. More prompts make more blocks."
        )
    prompts = counted(speedup.prompts, "prompt is", "prompts are")
    return f"{prompts} too few for an interval of the speed-up ({PROMPTS_NEEDED} needed)."


def _unequal_lengths(cell: Cell) -> str | None:
    greedy = cell.temperature == 0
    if not greedy or cell.speedup is None or cell.speedup.basis != TIME_PER_TOKEN:
        return None
    return (
        "Fewer than half of the prompts have answers of equal length in both arms: the speed-up "
        "compares time per output token."
    )


def _disturbance(samples: pd.DataFrame) -> Iterator[str]:
    """What else used the machine during the benchmark as a whole."""
    found = None if samples.empty else disturbance_of(samples)
    if found is None:
        return
    if found.text:
        yield found.text
    if found.repeated:
        yield (
            f"{found.repeated} of {found.blocks} blocks were measured again, because something "
            "else used the machine: the first measurements are in no figure."
        )
    if found.watched == CLIENT_ONLY:
        yield "A server is on another machine: what else that machine did is not known."
    if found.watched == NOT_WATCHED:
        yield (
            "What else the machine did is not known: the process of a server on it could not be "
            "found."
        )


def _without_baseline(arms: Sequence[ArmState]) -> Iterator[str]:
    lost: dict[str, list[str]] = {}
    for arm in arms:
        if arm.baseline is None and arm.method != Method.BASELINE:
            subject = f"{arm.engine}, {arm.model}" if arm.model else arm.engine
            lost.setdefault(subject, []).append(arm.arm)
    for subject, names in lost.items():
        yield (f"There is no baseline of {subject} in the plan: no speed-up for {_listed(names)}.")


def _prefix_caching(arms: Sequence[ArmState]) -> Iterator[str]:
    names = [arm.arm for arm in arms if arm.prefix_caching == "salted"]
    if names:
        yield (
            f"Prefix caching is on for {_listed(names)}: each request carried what keeps it out of "
            "that cache, so no prompt was answered from the cache."
        )


def _errors(arms: Sequence[ArmState]) -> Iterator[str]:
    for arm in arms:
        if arm.error:
            yield f"{arm.arm} ended after {arm.finished} of {arm.planned} requests: {arm.error}"


def _failures(arms: Sequence[ArmState], samples: pd.DataFrame) -> Iterator[str]:
    if samples.empty:
        return
    requests = samples["arm_index"].value_counts()
    failed = samples.loc[samples["status"] != "finished", "arm_index"].value_counts()
    for arm in arms:
        if count := int(failed.get(arm.arm_index, 0)):
            yield (
                f"{count} of {int(requests[arm.arm_index])} requests of {arm.arm} failed: "
                "they are in no figure."
            )


def _several_groups(arms: Sequence[ArmState], samples: pd.DataFrame) -> Iterator[str]:
    if samples.empty:
        return
    groups = samples.groupby("arm_index")["server_group"].nunique()
    for arm in arms:
        count = int(groups.get(arm.arm_index, 0))
        if arm.method == Method.BASELINE and count > 1:
            yield (
                f"{arm.arm} was measured in {count} groups of servers: an arm is compared with "
                "the baseline measured alongside it; its own figures include all groups."
            )


def _listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
