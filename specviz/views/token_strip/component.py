"""The token strip as a Streamlit component: this file only mounts it and joins its assets.

The browser follows a WebSocket route of the same host and draws on its own; Python hears of it
once, when a live run has ended. Streamlit serves inline assets only for a component that is not
an installed package with a manifest, and inline JavaScript cannot import its neighbours, so the
modules of `js/` are joined into one in the order of `MODULES`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import streamlit as st

FOLDER = Path(__file__).parent

MODULES = (
    "text.js",
    "tree.js",
    "words.js",
    "dom.js",
    "model.js",
    "socket.js",
    "token.js",
    "strip.js",
    "pane.js",
    "copy.js",
    "tooltip.js",
    "inspector.js",
    "clock.js",
    "replay.js",
    "keyboard.js",
    "main.js",
)
"""A module stands after those it imports."""

STYLES = ("layout.css", "tokens.css", "inspector.css")

DEFAULT_HEIGHT = 360

_IMPORT = re.compile(r"^import [^;]*? from \"\./[a-z]+\.js\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default )", re.MULTILINE)


def join_modules(sources: list[str]) -> str:
    """One ES module of several that share no top-level name: their imports and exports go."""
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", source)) for source in sources)


def _read(*parts: str) -> str:
    return FOLDER.joinpath(*parts).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "specviz.token_strip",
    html=_read("strip.html"),
    css="\n".join(_read("css", name) for name in STYLES),
    js=join_modules([_read("js", name) for name in MODULES]),
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
