"""The script that Streamlit runs: the navigation, headings, and redirects of former addresses."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from specviz.views.heading import show_heading
from specviz.views.shared.pages import LIVE, PAGES, SECTIONS, Page, switch_to

_HERE = Path(__file__).parent


def _registered(page: Page) -> st.Page:
    default = page is LIVE
    address = None if default else page.name
    return st.Page(page.path, title=page.title, icon=page.icon, url_path=address, default=default)


def _redirect(page: Page) -> st.Page:
    """The page's former address, which links of earlier versions still have."""

    def redirect() -> None:
        switch_to(page, st.query_params.to_dict())

    return st.Page(redirect, title=page.title, url_path=page.former_address, visibility="hidden")


st.set_page_config(
    page_icon=str(_HERE / "icon.svg"),
    layout="wide",
    initial_sidebar_state=200,  # pixels: page names are short, strips are not
)
st.html(_HERE / "page.css")
st.logo(str(_HERE / "wordmark.svg"), size="large")
_pages = {page: _registered(page) for page in PAGES.values()}
_former = [_redirect(page) for page in PAGES.values() if page.former_address]
_first, *_others = (
    (heading, [_pages[page] for page in pages]) for heading, pages in SECTIONS.items()
)
_opened = st.navigation({_first[0]: [*_first[1], *_former], **dict(_others)})
_page = next((page for page, one in _pages.items() if one is _opened), None)
if _page is not None:  # a redirect shows nothing
    st.set_page_config(page_title=_page.browser_title)
    show_heading(_page)
_opened.run()
