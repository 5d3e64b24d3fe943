"""Tables of all pages: as a grid, as plain HTML, as a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from html import escape

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from specviz.figures.style import Ground
from specviz.views.shared.charts import page_ground

WIDEST_NAME_PX = 260
WIDE = 16
"""Characters in a column of figures."""
LONG = 40
"""Characters above which words are wrapped: their column would push the figures out of view."""

WORDS = frozenset(
    {
        *("arm", "phase", "category", "load", "engine", "model", "draft", "server", "error"),
        *("verdict", "source", "where"),
        *("throughput", "measured at concurrency", "compared by", "prefix caching"),
    }
)
"""Columns of words."""


def show_table(table: pd.DataFrame) -> None:
    """Figures at the right, words at the left."""
    figures = [name for name in table.columns if name not in WORDS]
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        height="content",
        column_config={name: _figures(table[name]) for name in figures}
        | {"arm": st.column_config.TextColumn(pinned=True, width=_width(table))},
    )


def _figures(values: pd.Series) -> ColumnConfig:
    """Figures with an interval need more room than the grid gives by itself."""
    is_wide = _longest(values) > WIDE
    return st.column_config.TextColumn(alignment="right", width="medium" if is_wide else None)


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


def show_figures(table: pd.DataFrame, words: Collection[str] = ()) -> None:
    """As `show_table`, in plain HTML: a grid on a canvas is drawn too late to follow a slider."""
    st.html(table_html(table, words, page_ground()))


def table_html(table: pd.DataFrame, words: Collection[str], ground: Ground) -> str:
    """The table with every text escaped; a missing value is a dash."""
    line = f"border-bottom:1px solid {ground.line};padding:5px 12px"
    styles = [f"{line};{_alignment(table, name, words)}" for name in table.columns]
    head = "".join(
        f'<th style="{style};font-weight:400;color:{ground.muted}">{escape(str(name))}</th>'
        for name, style in zip(table.columns, styles, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="{style}">{_cell(value)}</td>'
            for value, style in zip(row, styles, strict=True)
        )
        + "</tr>"
        for row in table.itertuples(index=False)
    )
    return (
        '<div style="overflow-x:auto" tabindex="0" role="region" aria-label="table"><table '
        'style="border-collapse:collapse;font-size:14px;'
        f'white-space:nowrap;min-width:70%"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _alignment(table: pd.DataFrame, name: str, words: Collection[str]) -> str:
    if name not in words:
        return "text-align:right"
    is_long = _longest(table[name]) > LONG
    return "text-align:left" + (";white-space:normal;min-width:10em" if is_long else "")


def _cell(value: object) -> str:
    return "–" if pd.isna(value) else escape(str(value))


def _width(table: pd.DataFrame) -> int:
    """Pixels that the longest name of an arm takes."""
    return min(WIDEST_NAME_PX, 24 + 7 * _longest(table.get("arm", ())))


def _longest(values: Iterable[object]) -> int:
    """Characters."""
    return max((len(str(value)) for value in values), default=0)
