"""Cells: the requests of one arm at one temperature and load, summarised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import pandas as pd

from specviz.analysis.benchmark.acceptance import acceptance
from specviz.analysis.benchmark.disturbance import disturbance_of
from specviz.analysis.benchmark.goodput import met
from specviz.analysis.benchmark.list_columns import differences
from specviz.analysis.benchmark.notes import cell_notes
from specviz.analysis.benchmark.quantiles import quantiles
from specviz.analysis.benchmark.results import ArmState, Cell, Slo
from specviz.analysis.benchmark.speedup import measured_alongside, paired, speedup
from specviz.analysis.benchmark.step_times import plain_tpot_ms, step_time_text
from specviz.analysis.benchmark.throughput import (
    output_tokens,
    per_second,
    wall_s,
    wall_s_by_category,
)
from specviz.analysis.step_time.samples import mean_step_of
from specviz.methods import Method


class CellKey(NamedTuple):
    """Which cell a request belongs to; either `concurrency` or `request_rate` is None."""

    arm_index: int
    temperature: float
    concurrency: int | None
    request_rate: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What a cell is made of: its requests, the rounds they were part of, and its prompts paired
    with the baseline's requests, `plain` (None: there is no baseline)."""

    finished: pd.DataFrame
    failed: pd.DataFrame
    rounds: pd.DataFrame
    pairs: pd.DataFrame | None = None
    plain: pd.DataFrame | None = None

    def of(self, category: str) -> Measured:
        """One category; the rounds stay, they hold all."""
        return replace(
            self,
            finished=_only(self.finished, category),
            failed=_only(self.failed, category),
            pairs=self.pairs_of(category),
            plain=None if self.plain is None else _only(self.plain, category),
        )

    def pairs_of(self, category: str | None) -> pd.DataFrame | None:
        """The pairs of one category; None: of all."""
        if self.pairs is None or category is None:
            return self.pairs
        return _only(self.pairs, category)


def measured(samples: pd.DataFrame, rounds: pd.DataFrame) -> dict[CellKey, Measured]:
    """Every cell with a finished request, ordered by arm, temperature and load, not paired."""
    if samples.empty:
        return {}
    found = {}
    for key, frame in samples.groupby(list(CellKey._fields), dropna=False):
        is_finished = frame["status"] == "finished"
        if is_finished.any():
            mine = rounds if rounds.empty else rounds[rounds["round_id"].isin(frame["round_id"])]
            found[_key(*key)] = Measured(frame[is_finished], frame[~is_finished], mine)
    return found


def with_baseline(arm: ArmState, key: CellKey, found: Mapping[CellKey, Measured]) -> Measured:
    """A cell, paired with its baseline's at the same temperature and load if there is one."""
    mine = found[key]
    if arm.baseline is None or arm.method == Method.BASELINE:
        return mine
    baseline = found.get(key._replace(arm_index=arm.baseline))
    if baseline is None:
        return mine
    plain = measured_alongside(baseline.finished, mine.finished)
    return replace(mine, pairs=paired(mine.finished, plain), plain=plain)


def whole_cell(arm: ArmState, key: CellKey, mine: Measured, slo: Slo) -> Cell:
    """All categories together."""
    return _cell(arm, key, mine, slo, wall_s(mine.finished), None)


def category_cells(arm: ArmState, key: CellKey, mine: Measured, slo: Slo) -> Iterator[Cell]:
    """One cell per category, in alphabetical order."""
    seconds = wall_s_by_category(mine.finished) if key.concurrency == 1 else {}
    for category in sorted(mine.finished["category"].dropna().unique()):
        yield _cell(arm, key, mine.of(category), slo, seconds.get(category), str(category))


def _cell(
    arm: ArmState,
    key: CellKey,
    mine: Measured,
    slo: Slo,
    seconds: float | None,
    category: str | None,
) -> Cell:
    finished = mine.finished
    tokens = output_tokens(finished)
    memory_bytes, memory_source = _memory(mine.rounds)
    cell = Cell(
        arm=arm.arm,
        method=arm.method,
        k=arm.k,
        engine=arm.engine,
        draft=arm.draft,
        category=category,
        **key._asdict(),
        prompts=int(finished["prompt_index"].nunique()),
        requests=len(finished),
        failed=len(mine.failed),
        output_tokens=tokens,
        ttft_ms=quantiles(finished["ttft_ms"]),
        tpot_ms=quantiles(finished["tpot_ms"]),
        step_ms=quantiles(differences(finished["chunk_ms"])),
        e2el_ms=quantiles(finished["e2el_ms"]),
        queue_ms=quantiles(finished["queue_ms"]),
        output_throughput=per_second(tokens, seconds),
        request_throughput=per_second(len(finished), seconds),
        request_goodput=per_second(met(finished, slo), seconds),
        acceptance=acceptance(finished),
        speedup=None if mine.pairs is None else speedup(mine.pairs, key.temperature),
        memory_bytes=memory_bytes,
        memory_source=memory_source,
        gpu_utilization=_gpu_utilization(mine.rounds),
        disturbance=disturbance_of(finished),
        step_time=mean_step_of(finished),
    )
    plain_ms = plain_tpot_ms(cell, mine.plain)
    return replace(
        cell,
        notes=cell_notes(cell, finished, arm),
        plain_tpot_ms=plain_ms,
        step_time_text=step_time_text(cell, finished, plain_ms),
    )


def _key(arm_index: int, temperature: float, concurrency: int, request_rate: float) -> CellKey:
    """Plain numbers for what groupby gives."""
    return CellKey(
        int(arm_index),
        float(temperature),
        None if pd.isna(concurrency) else int(concurrency),
        None if pd.isna(request_rate) else float(request_rate),
    )


def _only(rows: pd.DataFrame, category: str) -> pd.DataFrame:
    return rows[rows["category"] == category]


def _memory(rounds: pd.DataFrame) -> tuple[int | None, str | None]:
    """The largest of the rounds' memory in bytes, and how that one was read."""
    known = rounds if rounds.empty else rounds.dropna(subset="memory_bytes")
    if known.empty:
        return None, None
    largest = known.loc[known["memory_bytes"].idxmax()]
    source = largest["memory_source"]
    return int(largest["memory_bytes"]), None if pd.isna(source) else str(source)


def _gpu_utilization(rounds: pd.DataFrame) -> float | None:
    """Mean over the rounds, 0-1."""
    if rounds.empty or rounds["gpu_utilization"].isna().all():
        return None
    return float(rounds["gpu_utilization"].mean())
