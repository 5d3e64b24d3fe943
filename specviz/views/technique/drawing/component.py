"""The drawing as a Streamlit component: this file only mounts it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from specviz.palette import css_variables

FOLDER = Path(__file__).parent

CLICKED = "clicked"
"""The value under which the id of a clicked leaf arrives."""


def _read(name: str) -> str:
    return FOLDER.joinpath(name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "specviz.technique_tree",
    html='<div class="tree"></div>',
    css=css_variables(".tree") + _read("drawing.css"),
    js=_read("drawing.js"),
)


def draw_tree(drawing: dict[str, Any], *, key: str, on_click: Callable[[], None]) -> None:
    """Draw boxes and lines of `technique.figure.drawing`; `on_click` runs before the script
    does again, with the leaf's id in `st.session_state[key][CLICKED]`."""
    _component(key=key, data=drawing, on_clicked_change=on_click)
