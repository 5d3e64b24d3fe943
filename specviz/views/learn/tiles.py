"""How the sections of the Learn page show figures: in a row, each under its name."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from specviz.views.runs.draft_tree import page_ground


def figure_row(figures: Mapping[str, str]) -> None:
    """Figures in a row, each under its name; a name may end in a unit or a condition."""
    ground = page_ground()
    tiles = "".join(
        f'<div><div style="color:{ground.muted};font-size:13px">{escape(name)}</div>'
        f'<div style="font-size:20px;white-space:nowrap">{escape(text)}</div></div>'
        for name, text in figures.items()
    )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:10px 36px">{tiles}</div>')
