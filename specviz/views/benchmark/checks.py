"""The sections of an opened benchmark that are about trust and cost: checks, cost basis, plan."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from specviz.analysis.benchmark.results import Cell
from specviz.analysis.text import digits
from specviz.views.benchmark import state as bench_state
from specviz.views.benchmark.show import choose, show_cells, show_notes
from specviz.views.benchmark.tables import (
    ARM,
    SIZE,
    Column,
    arms_table,
    checks_table,
    figure,
    quantile,
)
from specviz.views.shared.benchmark.results import Opened, load_of, load_title, loads
from specviz.views.shared.published import published_figures
from specviz.views.shared.tables import show_table
from specviz.views.shared.text import escaped

GREEDY = (
    "Greedy outputs of two correct engines can differ, by batch shape and floating point: answers "
    "of different length are not paired, and the speed-up says how many prompts were left out."
)
QUEUE_WORDS = (
    "Queueing: how long a request waited in this client before it was sent. More than a few ms at "
    "a fixed concurrency means that the client was the bottleneck, not the server."
)


def cost_basis(opened: Opened) -> None:
    """Requests per hour, the denominator of every cost per request."""
    cells = opened.results.cells
    load = choose("Load", loads(cells), load_title, "cost")
    cells = tuple(cell for cell in cells if load_of(cell) == load)
    columns: dict[str, Column] = {
        **ARM,
        "temperature": lambda cell: f"{cell.temperature:g}",
        "load": lambda cell: cell.load,
        "requests/h": requests_per_hour,
        "tok/s": figure("output_throughput"),
        "output tokens per request": tokens_per_request,
        **SIZE,
    }
    show_cells(cells, columns, "cost-basis")
    st.caption(
        "requests/h: finished requests / measured wall time. $ per request = $ per hour of this "
        "hardware ÷ requests/h; $ per million output tokens = $ per hour ÷ 3600 ÷ tok/s × 10⁶."
    )
    show_notes(cells)
    published_figures("cost")


def checks(opened: Opened) -> None:
    """What can be trusted: counts against the server's, the client itself, how arms were run."""
    results = opened.results
    for note in results.notes:
        st.warning(escaped(note), icon=":material/info:")
    st.markdown("**Acceptance: counts of the requests next to the server's own (`/metrics`)**")
    if results.checks:
        show_table(checks_table(results.checks))
        st.caption(
            "A difference means that other requests reached the server, or that counts were lost."
        )
    else:
        st.info("No arm of this benchmark has a server that counts.")
    queue: dict[str, Column] = {
        **ARM,
        "temperature": lambda cell: f"{cell.temperature:g}",
        "load": lambda cell: cell.load,
        "queueing P50 ms": quantile("queue_ms", "p50"),
        "queueing P95 ms": quantile("queue_ms", "p95"),
        "queueing P99 ms": quantile("queue_ms", "p99"),
        "speed-up leaves out": _left_out,
        "compared by": lambda cell: None if cell.speedup is None else cell.speedup.basis,
    }
    show_cells(results.cells, queue, "checks", "The client: queueing and pairing")
    st.caption(QUEUE_WORDS)
    st.caption(GREEDY)
    st.markdown("**Arms as they were run**")
    show_table(arms_table(results.arms).dropna(axis="columns", how="all"))


def plan(opened: Opened) -> None:
    """What was asked for, and on what it ran."""
    row = opened.row
    facts = {
        "benchmark": row.benchmark_id,
        "started": f"{row.started_at:%d %B %Y, %H:%M:%S} UTC",
        "finished": f"{row.finished_at:%d %B %Y, %H:%M:%S} UTC" if row.finished_at else None,
        "hardware": row.hardware,
        "git revision": row.git_revision,
        "specviz": row.specviz_version,
    }
    table = pd.DataFrame({"": facts.keys(), "value": [value or "–" for value in facts.values()]})
    st.dataframe(table, hide_index=True, height="content", width="content")
    text = bench_state.as_written(row.plan_toml)
    st.code(text, language="toml")
    st.download_button(
        "Download the plan",
        text,
        file_name="plan.toml",
        mime="application/toml",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )


def requests_per_hour(cell: Cell) -> str | None:
    return None if cell.request_throughput is None else digits(3600 * cell.request_throughput)


def tokens_per_request(cell: Cell) -> str | None:
    if cell.output_tokens is None or not cell.requests:
        return None
    return digits(cell.output_tokens / cell.requests)


def _left_out(cell: Cell) -> str | None:
    if cell.speedup is None:
        return None
    return f"{cell.speedup.excluded} of {cell.speedup.excluded + cell.speedup.prompts} prompts"
