"""The sections of an opened benchmark: figures measured here, then the published ones."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.benchmark.results import Cell
from specviz.methods import Method
from specviz.views.benchmark import curves as bench_curves
from specviz.views.benchmark.figures import distribution as bench_distribution
from specviz.views.benchmark.figures.distribution import tpot_distribution
from specviz.views.benchmark.figures.k import k_curves
from specviz.views.benchmark.figures.load import throughput_by_concurrency
from specviz.views.benchmark.figures.speedup import speedup_by_arm, speedup_by_category
from specviz.views.benchmark.figures.temperature import acceptance_by_temperature
from specviz.views.benchmark.show import choose, show_cells, show_notes
from specviz.views.benchmark.tables import (
    ACCEPTANCE,
    ARM,
    SIZE,
    SPEED,
    Column,
    acceptance,
    figure,
    memory_text,
    memory_words,
    quantile,
    speedup_text,
)
from specviz.views.shared.benchmark.results import Opened, load_of, load_title, loads, temperatures
from specviz.views.shared.charts import chart
from specviz.views.shared.published import published_figures
from specviz.views.shared.tables import csv_button, show_table
from specviz.views.shared.text import escaped
from specviz.views.step_time import WORDS, show_bars, show_lines, show_sentences

SPEEDUP_WORDS = (
    "Speed-up: baseline over arm, paired per prompt, ratio of totals; its 95 % interval is over "
    "prompts, or blocks where they shared one. tok/step: mean acceptance length, bonus token "
    "included."
)
NOT_REPORTED = (
    "Arms without a bar: how long they drafted and verified was not recorded. Benchmarks time "
    "servers without traces, because tracing takes time; a traced request on Live shows the parts "
    "where the server has the tracing plugin. Benchmarks of older versions kept no such times."
)
MOST_ARMS = 4
"""Arms that a chart by category begins with."""


def overall(opened: Opened) -> None:
    """Every arm at one temperature and load."""
    arms = opened.results.arms
    cells = _at_one_place(opened.results.cells, "overall")
    columns = {
        **ARM,
        **ACCEPTANCE,
        **SPEED,
        "TTFT P50 ms": quantile("ttft_ms", "p50"),
        "tok/s": figure("output_throughput"),
        "goodput 1/s": figure("request_goodput"),
        "memory": memory_text,
        **SIZE,
    }
    show_cells(cells, columns, "overall")
    st.caption(SPEEDUP_WORDS + escaped(memory_words(cells)))
    if dots := bench_curves.speedup_dots(arms, cells):
        chart(speedup_by_arm(dots), "Speed-up end to end", "speedup")
    if spreads := bench_curves.tpot_spreads(arms, cells, opened.samples()):
        chart(tpot_distribution(spreads), "Time per output token (TPOT) of the requests", "tpot")
        st.caption(bench_distribution.WORDS)
        csv_button(pd.DataFrame(spreads).drop(columns="colour"), "tpot-ms", "TPOT chart as CSV")
    show_notes(cells)
    published_figures("overall")


def step_time(opened: Opened) -> None:
    """Where the time of a step goes at one temperature and load, and why an arm is slower."""
    cells = _at_one_place(opened.results.cells, "step_time")
    found = [cell for cell in cells if cell.step_time or cell.step_time_text]
    if not found:
        st.info("No request of this benchmark reports its time per token.")
        return
    bars = bench_curves.step_bars(cells)
    show_bars(bars, "bench-step-time")
    show_sentences([(cell.arm, cell.step_time_text) for cell in cells if cell.step_time_text])
    if bars:
        show_lines(bars)
        st.caption(WORDS)
    if any(cell.step_time is None for cell in cells):
        st.caption(NOT_REPORTED)


def categories(opened: Opened) -> None:
    """The same by category of prompt."""
    cells = _at_one_place(opened.results.categories, "categories")
    if cells:
        cells = _of_chosen_arms(cells)
        cells = sorted(cells, key=lambda cell: (cell.category or "", cell.arm_index))
        category: dict[str, Column] = {"category": lambda cell: cell.category}
        show_cells(cells, {**category, **ARM, **ACCEPTANCE, **SPEED, **SIZE}, "categories")
        st.caption(SPEEDUP_WORDS)
        dots = bench_curves.speedup_dots(opened.results.arms, cells, by_category=True)
        if dots:
            chart(speedup_by_category(dots), "Speed-up by category", "speedup-by-category")
        show_notes(cells)
    else:
        st.info("The prompts of this benchmark have no categories.")
    published_figures("categories")


def temperature(opened: Opened) -> None:
    """Acceptance and speed over temperature, at one load."""
    load = choose("Load", loads(opened.results.cells), load_title, "temperature")
    cells = [cell for cell in opened.results.cells if load_of(cell) == load]
    cells = sorted(cells, key=lambda cell: (cell.arm_index, cell.temperature))
    columns: dict[str, Column] = {**ARM, "temperature": lambda cell: f"{cell.temperature:g}"}
    show_cells(cells, {**columns, **ACCEPTANCE, **SPEED, **SIZE}, "temperature")
    st.caption(SPEEDUP_WORDS)
    if lines := bench_curves.temperature_lines(opened.results.arms, cells):
        chart(acceptance_by_temperature(lines), "Acceptance over temperature", "temperature")
    else:
        st.info("One temperature was measured: a plan with several shows how acceptance falls.")
    show_notes(cells)
    published_figures("temperature")


def concurrency(opened: Opened) -> None:
    """Throughput against concurrency, and up to where each arm pays, at one temperature."""
    cells = _at_one_temperature(opened.results.cells, "concurrency")
    order = {load: place for place, load in enumerate(loads(cells))}
    cells = sorted(cells, key=lambda cell: (cell.arm_index, order[load_of(cell)]))
    columns: dict[str, Column] = {
        **ARM,
        "load": lambda cell: cell.load,
        "tok/s": figure("output_throughput"),
        "requests/s": figure("request_throughput"),
        "goodput 1/s": figure("request_goodput"),
        "E2E speed-up (95 %)": speedup_text,
        "acceptance rate": acceptance("draft_acceptance_rate"),
        "TTFT P95 ms": quantile("ttft_ms", "p95"),
        "TPOT P95 ms": quantile("tpot_ms", "p95"),
        **SIZE,
    }
    show_cells(cells, columns, "concurrency")
    st.caption(SPEEDUP_WORDS)
    lines = bench_curves.load_lines(opened.results.arms, cells)
    several = [line for line in lines if len(line.output_throughput) > 1]
    if several:
        figure_title = "Throughput against concurrency"
        chart(throughput_by_concurrency(several), figure_title, "throughput")
        st.caption(
            "Diamonds: where an arm's throughput meets its baseline's, interpolated in log2 of "
            "concurrency. Arms measured at one concurrency are in the tables only."
        )
    else:
        st.info("One concurrency was measured: a plan with several shows up to where an arm pays.")
    crossovers = bench_curves.crossover_table(lines)
    if len(crossovers):
        show_table(crossovers)
    show_notes(cells)
    published_figures("concurrency")


def k(opened: Opened) -> None:
    """Speed-up and tokens per step over K."""
    cells = [cell for cell in _at_one_place(opened.results.cells, "k") if cell.k]
    if cells:
        cells = sorted(cells, key=lambda cell: (cell.engine, cell.method, cell.k or 0))
        columns = {
            **ARM,
            **ACCEPTANCE,
            "acceptance α": acceptance("alpha"),
            **SPEED,
            "memory": memory_text,
            **SIZE,
        }
        show_cells(cells, columns, "k")
        st.caption(
            f"{SPEEDUP_WORDS} α: accepted / judged, which does not fall with K by definition."
        )
        lines = bench_curves.k_lines(opened.results.arms, cells)
        if not any(len(line.points) > 1 for line in lines):
            st.info("No method was measured at more than one K: a list of Ks makes a curve.")
        chart(k_curves(lines), "Speed-up and tokens per step over K", "k")
        show_notes(cells)
    else:
        st.info("No arm of this benchmark has a K here.")
    published_figures("k")


def _at_one_place(cells: Sequence[Cell], key: str) -> list[Cell]:
    """The cells at a temperature and load that the user chooses where there are several."""
    with st.container(horizontal=True):
        found = _at_one_temperature(cells, key)
        load = choose("Load", loads(found), load_title, key)
    return [cell for cell in found if load_of(cell) == load]


def _at_one_temperature(cells: Sequence[Cell], key: str) -> list[Cell]:
    at = choose("Temperature", temperatures(cells), lambda value: f"{value:g}", key)
    return [cell for cell in cells if cell.temperature == at]


def _of_chosen_arms(cells: Sequence[Cell]) -> list[Cell]:
    names = list(dict.fromkeys(cell.arm for cell in cells))
    drafting = list(dict.fromkeys(cell.arm for cell in cells if cell.method != Method.BASELINE))
    chosen = st.multiselect(
        "Arms", names, default=(drafting or names)[:MOST_ARMS], key="bench_category_arms"
    )
    return [cell for cell in cells if cell.arm in (chosen or names)]
