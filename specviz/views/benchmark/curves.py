"""A benchmark's cells as the lines, dots and boxes of its charts. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from specviz.analysis.benchmark.crossover import Crossover, crossover
from specviz.analysis.benchmark.families import families
from specviz.analysis.benchmark.results import ArmState, Cell
from specviz.analysis.step_time.bar import StepBar
from specviz.figures.arms import arm_colours, family_colours
from specviz.methods import Method
from specviz.views.benchmark.figures.distribution import Spread, spread
from specviz.views.benchmark.figures.k import KLine, KPoint
from specviz.views.benchmark.figures.load import LoadLine
from specviz.views.benchmark.figures.speedup import Dot
from specviz.views.benchmark.figures.temperature import TemperatureLine

Arms = Sequence[ArmState]
Cells = Sequence[Cell]


def speedup_dots(arms: Arms, cells: Cells, *, by_category: bool = False) -> list[Dot]:
    """One dot per cell that has a speed-up."""
    colours = arm_colours(arms, {cell.arm_index for cell in cells})
    return [
        Dot(
            (cell.category or "") if by_category else cell.arm,
            cell.arm,
            colours[cell.arm_index],
            cell.speedup,
        )
        for cell in cells
        if cell.speedup is not None
    ]


def step_bars(cells: Cells) -> list[StepBar]:
    """One bar per cell whose steps are known."""
    return [
        StepBar(cell.arm, cell.step_time, cell.plain_tpot_ms) for cell in cells if cell.step_time
    ]


def tpot_spreads(arms: Arms, cells: Cells, samples: pd.DataFrame) -> list[Spread]:
    """One box per cell with a request that has a TPOT."""
    colours = arm_colours(arms)
    found = [(cell, _tpot_ms(samples, cell)) for cell in cells]
    return [spread(cell.arm, colours[cell.arm_index], values) for cell, values in found if values]


def temperature_lines(arms: Arms, cells: Cells) -> list[TemperatureLine]:
    """Acceptance of the arms that were measured at more than one temperature of one load."""
    colours = arm_colours(arms)
    lines = [
        TemperatureLine(arm.arm, colours[arm.arm_index], _rates(cells, arm.arm_index))
        for arm in arms
    ]
    return [line for line in lines if len(line.draft_acceptance_rate) > 1]


def load_lines(arms: Arms, cells: Cells) -> list[LoadLine]:
    """Throughput of every arm by concurrency, at one temperature, with its crossover."""
    colours = arm_colours(arms)
    by_arm = {arm.arm_index: _throughput(cells, arm.arm_index) for arm in arms}
    return [
        LoadLine(
            arm.arm,
            colours[arm.arm_index],
            arm.method == Method.BASELINE,
            by_arm[arm.arm_index],
            _crossover(by_arm, arm),
        )
        for arm in arms
        if by_arm[arm.arm_index]
    ]


def crossover_table(lines: Sequence[LoadLine]) -> pd.DataFrame:
    """Up to where each arm pays, in words and as the interpolated concurrency."""
    measured = [
        (line.arm, line.crossover)
        for line in lines
        if line.crossover is not None and len(line.crossover.measured) > 1
    ]
    return pd.DataFrame(
        [
            {
                "arm": arm,
                "throughput": found.text,
                "measured at concurrency": ", ".join(map(str, found.measured)),
            }
            for arm, found in measured
        ]
    )


def k_lines(arms: Arms, cells: Cells) -> list[KLine]:
    """One line per family of arms that draft, at one temperature and load."""
    cell_of = {cell.arm_index: cell for cell in cells}
    colours = family_colours(arms)
    lines = []
    for family in families(arms):
        points = [
            _k_point(arm.k, cell_of[arm.arm_index])
            for arm in family.arms
            if arm.k and arm.arm_index in cell_of
        ]
        if points and not family.is_at_zero:
            lines.append(KLine(family.label, colours[family.label], tuple(points)))
    return lines


def _k_point(k: int, cell: Cell) -> KPoint:
    return KPoint(
        k, cell.speedup, None if cell.acceptance is None else cell.acceptance.mean_acceptance_length
    )


def _tpot_ms(samples: pd.DataFrame, cell: Cell) -> list[float]:
    at = (samples["arm_index"] == cell.arm_index) & (samples["temperature"] == cell.temperature)
    if cell.concurrency is None:
        at &= (samples["request_rate"] == cell.request_rate).fillna(False)
    else:
        at &= (samples["concurrency"] == cell.concurrency).fillna(False)
    return [float(value) for value in samples.loc[at.astype(bool), "tpot_ms"].dropna()]


def _rates(cells: Cells, arm_index: int) -> dict[float, float]:
    return {
        cell.temperature: cell.acceptance.draft_acceptance_rate
        for cell in cells
        if cell.arm_index == arm_index and cell.acceptance is not None
    }


def _crossover(by_arm: dict[int, dict[int, float]], arm: ArmState) -> Crossover | None:
    if arm.baseline is None or arm.baseline == arm.arm_index:
        return None
    return crossover(by_arm[arm.baseline], by_arm[arm.arm_index])


def _throughput(cells: Cells, arm_index: int) -> dict[int, float]:
    return {
        cell.concurrency: cell.output_throughput
        for cell in cells
        if cell.arm_index == arm_index
        and cell.concurrency is not None
        and cell.output_throughput is not None
    }
