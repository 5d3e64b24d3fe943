"""The editor as a Streamlit component: this file only mounts it.

A text area under its own highlighted copy. Editors that come as packages were tried with Streamlit
1.67: streamlit-monaco loads from a CDN, streamlit-code-editor asks Google for a font, streamlit-ace
takes no completions of ours; all of them live in a frame that the theme does not reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from specviz.palette import css_variables
from specviz.store.sql.schema import SchemaTable

FOLDER = Path(__file__).parent

ASKED = "asked"
"""The value under which {"action": "run" or "save", "sql"} arrives."""


def _read(name: str) -> str:
    return FOLDER.joinpath(name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "specviz.sql_editor",
    html=_read("editor.html"),
    css=css_variables(".editor") + _read("editor.css"),
    js=_read("editor.js"),
)


def sql_editor(
    sql: str, tables: Sequence[SchemaTable], *, key: str, on_asked: Callable[[], None]
) -> None:
    """Show an editor that begins with `sql` and keeps what is typed until `sql` changes.

    `on_asked` runs before the script does again, with what was asked for in
    `st.session_state[key][ASKED]`.
    """
    words = [
        {
            "name": table.name,
            "comment": table.comment,
            "columns": [[column.name, column.type, column.comment] for column in table.columns],
        }
        for table in tables
    ]
    _component(key=key, data={"sql": sql, "tables": words}, on_asked_change=on_asked)
