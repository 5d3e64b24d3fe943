"""What every page begins with: its name, and in one line what it is for."""

from __future__ import annotations

from html import escape

import streamlit as st

from specviz.views.shared.pages import Page


def show_heading(page: Page) -> None:
    """One row, so that what the page is about stays above the fold; styled in `page.css`."""
    st.html(
        f'<header class="page-heading"><h1>{escape(page.title)}</h1>'
        f"<p>{escape(page.purpose)}</p></header>"
    )
