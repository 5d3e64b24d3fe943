"""Charts and figures of all pages: one toolbar, one ground, one kind of tile."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import plotly.graph_objects as go
import streamlit as st

from specviz.figures.style import DARK, LIGHT, Ground
from specviz.views.shared.text import escaped

_AS_FILE = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": "specviz"}}
TOOLBAR = {**_AS_FILE, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}
ONLY_AS_FILE = {**_AS_FILE, "modeBarButtons": [["toImage"]]}
"""For drawings that are not zoomed into."""


def page_ground() -> Ground:
    """The colours of the page as it is shown: light or dark."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def chart(figure: go.Figure, title: str, key: str) -> None:
    """A chart under its title."""
    st.markdown(f"**{escaped(title)}**")
    st.plotly_chart(figure, config=TOOLBAR, key=f"chart-{key}")


def figure_row(figures: Mapping[str, str]) -> None:
    """Figures in a row, each under its name; a name may end in a unit or a condition."""
    ground = page_ground()
    tiles = "".join(
        f'<div><div style="color:{ground.muted};font-size:13px">{escape(name)}</div>'
        f'<div style="font-size:20px;white-space:nowrap">{escape(text)}</div></div>'
        for name, text in figures.items()
    )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:10px 36px">{tiles}</div>')
