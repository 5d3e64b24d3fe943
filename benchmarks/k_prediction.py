"""Predicting K = 1-14 from one run at K = 15, compared with measurements.

A sweep of the baseline and K = 1-15, arms interleaved, runs on the embedded engine, or on vLLM
servers with `--engine vllm`. The prediction sees only the baseline, the arm at the largest K and,
where K can be redrafted exactly, the redrafts of that arm.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.results_file import add_save_option, save
from specviz import runtime
from specviz.analysis.benchmark.results import Cell
from specviz.analysis.k.curves import Source
from specviz.bench.plan.plan import Plan
from specviz.bench.results import results_of
from specviz.config import EngineKind, RunConfig
from specviz.errors import UsageError
from specviz.machine import hardware_summary
from specviz.methods import Method
from specviz.prompts.sets import PromptSource
from specviz.prompts.shipped import CATEGORIES
from specviz.store import Store
from specviz.sweep.evidence import Evidence, evidence
from specviz.sweep.plan import sweep_plan
from specviz.sweep.redraft import redraft_arm

LARGEST = 15


@dataclass(frozen=True)
class Row:
    """One K: what was measured, and the error of the prediction (predicted / measured - 1)."""

    source: str
    k: int
    length: float
    length_off: float
    speedup: float | None
    speedup_off: float | None


def plan_of(engine: EngineKind, method: Method, prompts: int) -> Plan:
    every = dict.fromkeys(CATEGORIES, 1.0)
    return sweep_plan(
        RunConfig(engine, method),
        range(1, LARGEST + 1),
        [1],
        PromptSource(count=prompts, weights=every),
    )


def measure(current: runtime.Runtime, engine: EngineKind, method: Method, prompts: int) -> str:
    benchmark_id = current.benchmarks.start(plan_of(engine, method, prompts))
    current.benchmarks.wait(benchmark_id)
    return benchmark_id


def compare(store: Store, benchmark_id: str) -> list[Row]:
    """Every smaller K: predicted from the largest, and measured."""
    results = results_of(store, benchmark_id)
    arms = {arm.arm_index: arm.k for arm in results.arms if arm.k}
    largest = max(arms, key=lambda arm: arms[arm])
    baseline = results.arms[largest].baseline
    try:
        redraft_arm(store, benchmark_id, largest, lambda done, planned: None, lambda: False)
    except UsageError as error:
        print(f"No redraft: {error}")
    known = evidence(store, benchmark_id, {largest: arms[largest]}, baseline)
    assert known is not None
    if known.cost:
        print(f"Step times: {known.cost.basis}.")
    cells = {cell.k: cell for cell in results.cells if cell.arm_index in arms}
    return [
        row
        for source, redrafted in ((Source.REDRAFTED, True), (Source.PREDICTED, False))
        for row in rows(source, known, cells, redrafted=redrafted)
    ]


def rows(
    source: Source, known: Evidence, cells: Mapping[int | None, Cell], *, redrafted: bool
) -> list[Row]:
    found = []
    for predicted in known.predictions(range(1, LARGEST), redrafted=redrafted):
        cell = cells[predicted.k]
        assert cell.acceptance is not None  # it has a K
        speedup = cell.speedup.ratio if cell.speedup else None
        estimate = predicted.speedup.value if predicted.speedup else None
        found.append(
            Row(
                source.value,
                predicted.k,
                cell.acceptance.mean_acceptance_length,
                predicted.mean_acceptance_length.value / cell.acceptance.mean_acceptance_length - 1,
                speedup,
                estimate / speedup - 1 if estimate and speedup else None,
            )
        )
    return found


def print_rows(found: Sequence[Row]) -> None:
    for row in found:
        speed = (
            f"   {row.speedup:5.2f}× {100 * row.speedup_off:+6.1f} %"
            if row.speedup is not None and row.speedup_off is not None
            else ""
        )
        print(
            f"{row.source:22} K {row.k:2}   {row.length:5.2f} tok/step "
            f"{100 * row.length_off:+6.2f} %{speed}"
        )
    for source in dict.fromkeys(row.source for row in found):
        own = [row for row in found if row.source == source]
        largest = max(abs(row.length_off) for row in own)
        speeds = [abs(row.speedup_off) for row in own if row.speedup_off is not None]
        text = f", speed-up {100 * max(speeds):.1f} %" if speeds else ""
        print(f"{source}: largest error: mean acceptance length {100 * largest:.2f} %{text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", type=EngineKind, choices=list(EngineKind), default="embedded")
    parser.add_argument("--method", type=Method, nargs="*", default=[Method.EAGLE3])
    parser.add_argument("--prompts", type=int, default=24)
    parser.add_argument("--db", type=Path, help="keep the runs here; with --benchmark: read them")
    parser.add_argument("--benchmark", help="id of a stored sweep: nothing is measured")
    add_save_option(parser, "k_prediction")
    asked = parser.parse_args()
    print(hardware_summary())
    saved = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        runtime.opened(asked.db or Path(folder) / "runs.duckdb") as current,
    ):
        for method in asked.method:
            benchmark_id = asked.benchmark or measure(current, asked.engine, method, asked.prompts)
            print(f"-- {method.value}, {asked.engine.value}")
            found = compare(current.store, benchmark_id)
            print_rows(found)
            saved[method.value] = [asdict(row) for row in found]
    if asked.save:
        save(asked.save, {"engine": asked.engine.value, "rows": saved}, prompts=asked.prompts)


if __name__ == "__main__":
    main()
