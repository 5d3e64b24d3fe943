"""The token strip as a Streamlit component: this file only mounts it.

The browser follows a WebSocket route of the same host and draws on its own; Python hears of it
once, when a live run has ended.
"""

from __future__ import annotations

from typing import Literal

import streamlit as st

from specviz.strip import assets

DEFAULT_HEIGHT = 360

_component = st.components.v2.component(
    "specviz.token_strip", html=assets.markup(), css=assets.style(), js=assets.script()
)


def token_strip(
    source: str,
    *,
    mode: Literal["live", "replay"],
    key: str,
    height: int | None = None,
) -> bool:
    """Show the arms that the WebSocket route `source` sends, and the inspector of their steps.

    `source` is a path such as `/ws/jobs/<id>` without the server's base path; an empty one shows
    what to do first. `height` is the height of one pane's text in pixels. Returns True in the one
    rerun that the end of a live run causes.
    """
    data = {"source": source, "mode": mode, "height": height or DEFAULT_HEIGHT}
    result = _component(key=key, data=data, on_finished_change=lambda: None)
    return bool(result.finished)
