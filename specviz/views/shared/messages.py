"""Errors on a page. They quote addresses, servers and files, none of which may write Markdown."""

from __future__ import annotations

import streamlit as st

from specviz.views.shared.text import escaped


def show_error(problem: Exception | str) -> None:
    """An error's sentence, exactly as it is written."""
    st.error(escaped(str(problem)), icon=":material/error:")
