"""The token strip as a Streamlit component: this file only mounts it.

The browser follows a WebSocket route of the same host and draws on its own; Python hears of it
once, when a live run has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import streamlit as st

from specviz.strip import assets

DEFAULT_HEIGHT = 360

_component = st.components.v2.component(
    "specviz.token_strip", html=assets.markup(), css=assets.style(), js=assets.script()
)


@dataclass(frozen=True, slots=True)
class OpenedStep:
    """The step whose inspector is open: the id of its arm's run, and its index."""

    run_id: str
    index: int


def token_strip(
    source: str,
    *,
    mode: Literal["live", "replay"],
    key: str,
    height: int | None = None,
    link: str | None = None,
) -> OpenedStep | None:
    """Show the arms that the WebSocket route `source` sends, and the inspector of their steps.

    `source` is a path such as `/ws/jobs/<id>` without the server's base path; an empty one shows
    what to do first. `height` is the most that one pane's text takes, in pixels; `link` the page
    that *Copy link* names, if it is not the one that is open. The end of a live run causes one
    rerun. Returns the step that the reader opened in a replay.
    """
    data = {"source": source, "mode": mode, "height": height or DEFAULT_HEIGHT, "link": link}
    result = _component(
        key=key, data=data, on_finished_change=lambda: None, on_opened_change=lambda: None
    )
    opened = result.opened
    return OpenedStep(opened["arm"], opened["step"]) if opened else None
