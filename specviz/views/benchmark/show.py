"""How the sections of a benchmark show a table, a chart, a choice, and offer them as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import streamlit as st

from specviz.analysis.benchmark.results import Cell
from specviz.views.benchmark.tables import Column, in_full, measured, notes
from specviz.views.shared.tables import csv_button, show_table
from specviz.views.shared.text import escaped

T = TypeVar("T")


def show_cells(
    cells: Sequence[Cell],
    columns: Mapping[str, Column],
    name: str,
    heading: str = "Measured here",
) -> None:
    """The measured figures as a table, and in full as a file; columns without a figure left out."""
    table = measured(cells, columns)
    st.markdown(f"**{escaped(heading)}**")
    show_table(table.dropna(axis="columns", how="all"))
    csv_button(in_full(cells), name, "Measured figures as CSV, in full")


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
