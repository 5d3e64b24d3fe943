"""How the sections of the Learn page show figures: in a row, or as a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape

import pandas as pd
import streamlit as st

from specviz.figures.style import Ground
from specviz.views.run_tree import page_ground


def figure_row(figures: Mapping[str, str]) -> None:
    """Figures in a row, each under its name; a name may end in a unit or a condition."""
    ground = page_ground()
    tiles = "".join(
        f'<div><div style="color:{ground.muted};font-size:13px">{escape(name)}</div>'
        f'<div style="font-size:20px;white-space:nowrap">{escape(text)}</div></div>'
        for name, text in figures.items()
    )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:10px 36px">{tiles}</div>')


def show_figures(table: pd.DataFrame, words: Collection[str] = ()) -> None:
    """Figures at the right; the columns named in `words` at the left.

    A plain table: a grid with its own canvas is drawn too late to follow a slider.
    """
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
        f'white-space:nowrap;min-width:60%"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    return "–" if pd.isna(value) else escape(str(value))
