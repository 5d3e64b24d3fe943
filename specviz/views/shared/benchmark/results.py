"""An opened benchmark's data for its sections, cached while it does not change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from specviz.analysis.benchmark.disturbance import HasDisturbance, disturbed_text
from specviz.analysis.benchmark.results import ArmState, Cell, Results, load_text
from specviz.bench.kept_results import KEPT
from specviz.bench.results import samples_of
from specviz.figures.arms import arm_colours
from specviz.runtime import current
from specviz.store import Store
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.shared.text import escaped

Load = tuple[int | None, float | None]
"""Concurrency, or requests per second; the other is None."""


@dataclass(frozen=True, slots=True)
class Opened:
    """One benchmark: its row, its results, its arms' colours by `arm_index`."""

    row: BenchmarkRow
    results: Results
    store: Store

    @property
    def colours(self) -> dict[int, str]:
        return arm_colours(self.results.arms)

    @property
    def arms(self) -> dict[int, ArmState]:
        """By `arm_index`."""
        return {arm.arm_index: arm for arm in self.results.arms}

    def samples(self) -> pd.DataFrame:
        """One row per request. Raises StoreError."""
        return _samples(self.store, self.row.benchmark_id, self.row.finished)


def open_results(store: Store, row: BenchmarkRow) -> Opened:
    """Raises StoreError."""
    kept = current().results
    with nullcontext() if kept.has(row) else st.spinner("Computing the figures"):
        return Opened(row, kept.of(store, row), store)


def temperatures(cells: Sequence[Cell]) -> list[float]:
    """Those that were measured, ascending."""
    return sorted({cell.temperature for cell in cells})


def loads(cells: Sequence[Cell]) -> list[Load]:
    """Those that were measured: concurrencies ascending, then request rates."""
    found = {load_of(cell) for cell in cells}
    return sorted(found, key=lambda load: (load[0] is None, load[0] or 0, load[1] or 0.0))


def load_of(cell: Cell) -> Load:
    return (cell.concurrency, cell.request_rate)


def load_title(load: Load) -> str:
    """`concurrency 8`, or `2.5 requests/s`."""
    return load_text(*load)


def show_disturbance(cells: Iterable[HasDisturbance]) -> None:
    """A warning where the figures rest on blocks that something else disturbed."""
    if text := disturbed_text(cells):
        st.warning(escaped(text), icon=":material/speed:")


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the requests")
def _samples(_store: Store, benchmark_id: str, finished: int) -> pd.DataFrame:
    return samples_of(_store, benchmark_id)
