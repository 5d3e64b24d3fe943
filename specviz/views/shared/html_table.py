"""Tables of text as plain HTML: a grid with its own canvas is drawn too late to follow a slider."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

import pandas as pd
import streamlit as st

from specviz.figures.style import Ground
from specviz.views.runs.draft_tree import page_ground


def show_figures(table: pd.DataFrame, words: Collection[str] = ()) -> None:
    """Figures at the right; the columns named in `words` at the left."""
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
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;font-size:14px;'
        f'white-space:nowrap;min-width:70%"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    return "–" if pd.isna(value) else escape(str(value))
