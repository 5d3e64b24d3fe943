"""The answer to a query: as a plot that can be changed, as a table, as a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from specviz.analysis.plot_choice import (
    Plot,
    PlotColumn,
    PlotKind,
    Sort,
    choose_plot,
    fits,
    plot_columns,
    possible_kinds,
    sort_of,
)
from specviz.analysis.text import shortened, terminal_text
from specviz.store.sql.files import FILES, text_of, unique_names
from specviz.store.sql.result import SqlResult
from specviz.store.sql.schema import SchemaTable
from specviz.views.query import state as query_state
from specviz.views.query.plot import left_out, query_plot
from specviz.views.query.state import Asked
from specviz.views.shared.charts import TOOLBAR, page_ground
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import bound

CELL_CHARACTERS = 2_000
KIND_NAMES = {
    PlotKind.HEAT: "heat map",
    PlotKind.BARS: "bars",
    PlotKind.LINE: "line",
    PlotKind.POINTS: "points",
}
NONE = "–"


@st.fragment
def show_result(asked: Asked, result: SqlResult, tables: Sequence[SchemaTable]) -> None:
    """The plot if one suits the columns, the table, and both as files."""
    if not result.columns or not result.rows:
        return
    names = unique_names([column.name for column in result.columns])
    columns = plot_columns(names, [column.type for column in result.columns], result.rows)
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = st.segmented_control(
            "Show",
            [query_state.PLOT, query_state.TABLE],
            default=query_state.PLOT,
            required=True,
            label_visibility="collapsed",
            **bound(query_state.SHOW),
        )
        plot = _plot(asked, columns, len(result.rows))
        if shown == query_state.PLOT and possible_kinds(columns):
            plot = _changed(asked, columns, plot)
        st.space("stretch")
        _files(asked, result)
    if shown == query_state.PLOT and plot.kind is not PlotKind.TABLE:
        figure = query_plot(plot, names, result.rows, page_ground())
        st.plotly_chart(figure, config=TOOLBAR, key=f"query_chart_{asked.digest}")
        if note := left_out(plot, names, result.rows):
            st.caption(escaped(note))
        return
    if shown == query_state.PLOT:
        st.caption("A plot would not show more than the table.")
    _table(result, names, tables)


def _plot(asked: Asked, columns: Sequence[PlotColumn], rows: int) -> Plot:
    """The plot of the URL, else of the question, else the one that suits the columns."""
    chosen = query_state.plot_in_url()
    if chosen is not None and (chosen.kind is PlotKind.TABLE or fits(chosen, columns)):
        return chosen
    if asked.question is not None:
        shipped = asked.question.plot
        return shipped if fits(shipped, columns) and rows > 1 else Plot()
    return choose_plot(columns, rows)


def _changed(asked: Asked, columns: Sequence[PlotColumn], plot: Plot) -> Plot:
    """The plot after a person's choice among kinds and columns."""
    plain = [column.name for column in columns if column.sort is not Sort.OTHER]
    numbers = [column.name for column in columns if column.sort is Sort.NUMBER]
    title = KIND_NAMES.get(plot.kind, "none")
    with st.popover(f"Plot: {title}", icon=":material/tune:", type="tertiary"):
        kinds = [*possible_kinds(columns), PlotKind.TABLE]
        kind = _choice(asked, "Kind", kinds, plot.kind, lambda k: KIND_NAMES.get(k, "none"))
        if kind is PlotKind.TABLE:
            changed = Plot()
        else:
            x = _choice(asked, "Across" if kind is not PlotKind.BARS else "Bars", plain, plot.x)
            y = by = None
            if kind is PlotKind.HEAT:
                y = _choice(asked, "Down", plain, plot.y or plot.by)
            value = _choice(
                asked, "Colour" if kind is PlotKind.HEAT else "Figure", numbers, plot.value
            )
            if kind is not PlotKind.HEAT:
                by = _choice(asked, "Colour by", [None, *plain], plot.by, _or_none)
            changed = Plot(kind, x, y, value, by)
    if changed != plot:
        query_state.write_plot(changed)
    return changed


def _choice(
    asked: Asked,
    label: str,
    options: Sequence[Any],
    now: Any,
    title: Callable[[Any], str] = str,
) -> Any:
    index = options.index(now) if now in options else 0
    key = f"query_{label.lower().replace(' ', '_')}_{asked.digest}"
    return st.selectbox(label, options, index=index, format_func=title, key=key)


def _or_none(name: str | None) -> str:
    return NONE if name is None else name


def _files(asked: Asked, result: SqlResult) -> None:
    """Made when they are asked for."""
    name = asked.question.question_id if asked.question is not None else "query"
    for suffix, (make, mime) in FILES.items():
        st.download_button(
            suffix.upper() if suffix != "parquet" else "Parquet",
            partial(make, result),
            file_name=f"{name}.{suffix}",
            mime=mime,
            key=f"query_file_{suffix}",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )


def _table(result: SqlResult, names: Sequence[str], tables: Sequence[SchemaTable]) -> None:
    """Text with its invisible marks spelled out; the column's meaning at its name."""
    shown = pd.DataFrame(
        {
            name: _column([row[place] for row in result.rows], column.type)
            for place, (name, column) in enumerate(zip(names, result.columns, strict=True))
        }
    )
    meanings = {column.name: column.comment for table in tables for column in table.columns}
    st.dataframe(
        shown,
        hide_index=True,
        placeholder=NONE,
        height=min(640, 40 + 35 * len(shown)),
        column_config={
            name: st.column_config.Column(help=escaped(meanings[name]))
            for name in names
            if meanings.get(name)
        },
    )


def _column(values: Sequence[Any], duckdb_type: str) -> pd.Series:
    match sort_of(duckdb_type):
        case Sort.NUMBER:
            whole = "INT" in duckdb_type and "HUGE" not in duckdb_type
            return pd.Series(values, dtype="Int64" if whole else "Float64")
        case Sort.TIME:
            return pd.Series(pd.to_datetime(list(values), errors="coerce"))
        case _:
            return pd.Series([_cell(value) for value in values], dtype=object)


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    return shortened(terminal_text(text_of(value)), CELL_CHARACTERS)
