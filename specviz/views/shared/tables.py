"""Tables of all pages: as a grid, as plain HTML, as a file."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from specviz.figures.style import Ground
from specviz.views.shared.charts import page_ground

WIDEST_NAME_PX = 260
WIDE = 16
"""Characters in a column of figures."""

WORDS = frozenset(
    {
        *("arm", "category", "load", "engine", "model", "draft", "server", "error", "verdict"),
        *("source", "where", "rests on"),
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
    longest = max((len(str(value)) for value in values), default=0)
    return st.column_config.TextColumn(
        alignment="right", width="medium" if longest > WIDE else None
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


def show_figures(table: pd.DataFrame, words: Collection[str] = ()) -> None:
    """As `show_table`, in plain HTML: a grid on a canvas is drawn too late to follow a slider."""
    st.html(table_html(table, words, page_ground()))


def table_html(table: pd.DataFrame, words: Collection[str], ground: Ground) -> str:
    """The table with every text escaped; a missing value is a dash."""
    line = f"border-bottom:1px solid {ground.line};padding:5px 12px"
    sides = ["left" if name in words else "right" for name in table.columns]
    head = "".join(
        f'<th style="{line};text-align:{side};font-weight:400;color:{ground.muted}">'
        f"{escape(str(name))}</th>"
        for name, side in zip(table.columns, sides, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="{line};text-align:{side}">{_cell(value)}</td>'
            for value, side in zip(row, sides, strict=True)
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


def _cell(value: object) -> str:
    return "–" if pd.isna(value) else escape(str(value))


def _width(table: pd.DataFrame) -> int:
    """Pixels that the longest name of an arm takes."""
    longest = max((len(str(name)) for name in table.get("arm", [])), default=0)
    return min(WIDEST_NAME_PX, 24 + 7 * longest)
