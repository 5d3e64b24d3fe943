"""How the sections of a benchmark show a table, a chart, a choice, and offer them as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from specviz.analysis.benchmark.results import Cell
from specviz.views.benchmark.tables import Column, in_full, measured, notes
from specviz.views.runs.sections import CHART

T = TypeVar("T")

MOST_PX = 260


def show_cells(
    cells: Sequence[Cell],
    columns: Mapping[str, Column],
    name: str,
    heading: str = "Measured here",
) -> None:
    """The measured figures as a table, and in full as a file; columns without a figure left out."""
    table = measured(cells, columns)
    st.markdown(f"**{heading}**")
    show_table(table.dropna(axis="columns", how="all"))
    csv_button(in_full(cells), name, "Measured figures as CSV, in full")


WORDS = frozenset(
    {
        *("arm", "category", "load", "engine", "model", "draft", "server", "error", "verdict"),
        *("source", "where", "batch sizes", "rests on"),
        *("throughput", "measured at concurrency", "compared by", "prefix caching"),
    }
)
"""Columns of words."""


def show_table(table: pd.DataFrame) -> None:
    """Figures at the right, words at the left."""
    right = st.column_config.TextColumn(alignment="right")
    figures = [name for name in table.columns if name not in WORDS]
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        height="content",
        column_config={name: right for name in figures}
        | {"arm": st.column_config.TextColumn(pinned=True, width=_width(table))},
    )


def csv_button(table: pd.DataFrame, name: str, label: str) -> None:
    """A table as a file."""
    st.download_button(
        label,
        table.to_csv(index=False),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"csv-{name}",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )


def chart(figure: go.Figure, title: str, key: str) -> None:
    """A chart under its title."""
    st.markdown(f"**{title}**")
    st.plotly_chart(figure, config=CHART, key=f"chart-{key}")


def choose(label: str, options: Sequence[T], title: Callable[[T], str], key: str) -> T | None:
    """One of several; the only one without asking. None if there is none."""
    if len(options) < 2:
        return options[0] if options else None
    return st.selectbox(label, options, format_func=title, key=f"bench_{key}_{label}", width=200)


NOTES_SHOWN = 4


def show_notes(cells: Sequence[Cell]) -> None:
    """What the figures above cannot say, and why."""
    found = notes(cells)
    if not found:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown(":material/info: **Notes**")
        for note in found[:NOTES_SHOWN]:
            st.text(note)
    if rest := found[NOTES_SHOWN:]:
        with st.expander(f"{len(rest)} further notes"):
            for note in rest:
                st.text(note)


def _width(table: pd.DataFrame) -> int:
    """Pixels that the longest name of an arm takes."""
    longest = max((len(str(name)) for name in table.get("arm", [])), default=0)
    return min(MOST_PX, 24 + 7 * longest)
