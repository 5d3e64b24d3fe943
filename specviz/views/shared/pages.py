"""The pages, once: file, title, icon and address.

A new page is a file in `pages/`, a folder in `views/` and a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from specviz.paths import PROJECT_ROOT


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `name` is its file in `pages/` and its address; `former_address` redirects here."""

    name: str
    title: str
    icon: str
    former_address: str | None = None

    @property
    def path(self) -> Path:
        return PROJECT_ROOT / "pages" / f"{self.name}.py"


LIVE = Page("live", "Live", ":material/play_circle:")
RUNS = Page("runs", "Runs", ":material/replay:", former_address="run")
COMPARE = Page("compare", "Compare", ":material/difference:")
QUERY = Page("query", "Query", ":material/database_search:")
BENCHMARK = Page("benchmark", "Benchmark", ":material/speed:")
K = Page("k", "K", ":material/tune:")
TECHNIQUE = Page("technique", "Technique", ":material/account_tree:", former_address="decide")
COST = Page("cost", "Cost", ":material/payments:")
LEARN = Page("learn", "Learn", ":material/school:")
SERVERS = Page("servers", "Servers", ":material/dns:")

SECTIONS: Mapping[str, tuple[Page, ...]] = {
    "": (LIVE, RUNS, COMPARE, QUERY, BENCHMARK),
    "Decide": (K, TECHNIQUE, COST, LEARN),
    "Data": (SERVERS,),
}
"""The navigation: pages under their headings. The first page opens at the app's root."""

PAGES = {page.name: page for pages in SECTIONS.values() for page in pages}


def link(
    page: Page, label: str, *, icon: str | None = None, parameters: Mapping[str, str] | None = None
) -> None:
    """A link to a page with parameters."""
    st.page_link(
        page.path,
        label=label,
        icon=icon or page.icon,
        query_params=dict(parameters or {}),
    )


def link_back(page: Page, label: str) -> None:
    """A link from one thing opened to all of them: a page without parameters."""
    st.page_link(page.path, label=label, icon=":material/arrow_back:")


def switch_to(page: Page, parameters: Mapping[str, Any] | None = None) -> None:
    """Open a page instead of this one. Ends the script run."""
    st.switch_page(page.path, query_params=dict(parameters or {}))
