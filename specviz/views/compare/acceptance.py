"""The section that lays tools' acceptance side by side, each figure with its definition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.acceptance.counts import conditional
from specviz.analysis.acceptance.definitions import (
    CONDITIONAL,
    DEFINITIONS,
    OTHER_REASONS,
    UNCONDITIONAL,
    Word,
)
from specviz.analysis.acceptance.difference import Report, differences
from specviz.analysis.acceptance.own import counts_of_requests
from specviz.analysis.acceptance.tools import SPECVIZ, TOOLS, Tool, reported
from specviz.analysis.text import counted, digits
from specviz.store.history.comparison import ComparedRun, ComparedToolResult
from specviz.store.history.drafts import read_drafts
from specviz.views.compare.opened import Compared
from specviz.views.shared.tables import show_figures
from specviz.views.shared.text import escaped


def definitions(compared: Compared) -> None:
    """Why the figures differ, then every figure under every definition."""
    reports = _reports(compared)
    reference, *others = reports
    for other in others:
        if found := differences(reference, other):
            with st.container(border=True):
                for difference in found:
                    st.markdown(f"**{difference.word.capitalize()}**")
                    st.text("\n".join(difference.sentences))
    if without := [one.name for one in reports if not any(map(one.called, Word))]:
        st.text(f"Nothing drafted, or no acceptance reported: {', '.join(without)}.")
    st.markdown("**Every figure under every definition**")
    table = figure_table(reports)
    show_figures(table, words={"", "figure", "formula"})
    st.caption(
        "In quotes: as the tool reports it, under that name. Without: computed here from what it "
        "reports. A dash: its file lacks what the formula needs. In each step d draft tokens are "
        "verified and a of them accepted; n steps verify a draft; a request r has o output tokens."
    )
    with st.expander("The definitions in words"):
        _listed(f"{one.word}, {one.name}: {one.words}." for one in DEFINITIONS)
    if positions := position_table(reports):
        st.markdown("**By position**")
        for table, words in positions:
            st.caption(words)
            show_figures(table, words={""})
    st.markdown("**What was counted**")
    _listed(_counted(compared))
    st.markdown("**What no definition explains**")
    _listed(OTHER_REASONS)


def figure_table(reports: Sequence[Report]) -> pd.DataFrame:
    """One line per definition that anyone has a figure of, one column per arm."""
    figures = {one.name: one.figures() for one in reports}
    names = {
        (one.name, figure.definition.key): figure.name for one in reports for figure in one.reported
    }
    lines = []
    for definition in DEFINITIONS:
        cells = {
            name: _cell(own[definition.key].value, names.get((name, definition.key)))
            for name, own in figures.items()
        }
        if any(cells.values()):
            head = {"": str(definition.word), "figure": definition.name}
            lines.append({**head, "formula": definition.symbols, **cells})
    return pd.DataFrame(lines)


def position_table(reports: Sequence[Report]) -> list[tuple[pd.DataFrame, str]]:
    """Unconditional and conditional rates by position, with their definitions."""
    known = {one.name: one.counts.rates for one in reports if one.counts.rates}
    if not known:
        return []
    given = {name: conditional(rates) for name, rates in known.items()}
    return [(_rates(known), UNCONDITIONAL), (_rates(given), CONDITIONAL)]


def _rates(rates: dict[str, tuple[float, ...]] | dict[str, list[float | None]]) -> pd.DataFrame:
    deepest = max(map(len, rates.values()))
    return pd.DataFrame(
        [
            {
                "": name,
                **{
                    f"position {place + 1}": digits(own[place]) if place < len(own) else None
                    for place in range(deepest)
                },
            }
            for name, own in rates.items()
        ]
    )


def _cell(value: float | None, reported_as: str | None) -> str | None:
    if value is None:
        return None
    return f"{digits(value)} “{reported_as}”" if reported_as else digits(value)


def _reports(compared: Compared) -> list[Report]:
    """In the order of the page. Raises StoreError."""
    runs = {arm.key: counts_of_requests(arm.finished) for arm in compared.runs()}
    found = []
    for arm in compared.arms:
        if isinstance(arm.row, ComparedToolResult):
            document, counts = compared.store.read(read_drafts, arm.key)
            found.append(Report(arm.name, tuple(reported(arm.row.tool, document)), counts))
        else:
            found.append(Report(arm.name, (), runs[arm.key]))
    return found


def _counted(compared: Compared) -> list[str]:
    found = []
    for arm in compared.arms:
        tool = _tool(arm.row)
        requests = arm.row.requests if isinstance(arm.row, ComparedRun) else arm.row.num_requests
        how_many = "requests not reported" if requests is None else counted(requests, "request")
        found.append(f"{arm.name} ({how_many}): {tool.counted}. Read in {tool.source}.")
    return found


def _listed(sentences: Iterable[str]) -> None:
    st.markdown("\n".join(f"- {escaped(sentence)}" for sentence in sentences))


def _tool(row: ComparedRun | ComparedToolResult) -> Tool:
    if isinstance(row, ComparedRun):
        return SPECVIZ
    return TOOLS.get(row.tool, Tool(row.tool, "not known here", "no source"))
