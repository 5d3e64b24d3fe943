"""The pages, once: file, title, icon and address.

CONTRIBUTING.md has what a new page takes.
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
    """One page. `name` is its file in `pages/` and its address; `former_address` redirects here.

    `title` is its heading and, with the program's name, the browser's; `purpose` the one line that
    says what it is for.
    """

    name: str
    title: str
    icon: str
    purpose: str
    former_address: str | None = None

    @property
    def browser_title(self) -> str:
        """What a tab says: the page first, because tabs are narrow."""
        return f"{self.title} · specviz"

    @property
    def path(self) -> Path:
        return PROJECT_ROOT / "pages" / f"{self.name}.py"


LIVE = Page(
    "live",
    "Live",
    ":material/play_circle:",
    "One prompt on up to four arms, every accepted and rejected token as it happens.",
)
RUNS = Page(
    "runs",
    "Runs",
    ":material/replay:",
    "Every stored run: find it, replay its decisions, run it again, export it.",
    former_address="run",
)
COMPARE = Page(
    "compare",
    "Compare",
    ":material/difference:",
    "Two or more runs side by side: what differs, and whether it is more than noise.",
)
QUERY = Page(
    "query",
    "Query",
    ":material/database_search:",
    "Questions to all stored runs, with SQL or without.",
)
BENCHMARK = Page(
    "benchmark",
    "Benchmark",
    ":material/speed:",
    "Methods timed in turns on the same prompts, over loads and temperatures.",
)
K = Page(
    "k",
    "K",
    ":material/tune:",
    "How many tokens to draft per step: what each K does, and which one to use.",
)
TECHNIQUE = Page(
    "technique",
    "Technique",
    ":material/account_tree:",
    "Should speculation be on for your traffic, and with which method?",
    former_address="decide",
)
COST = Page(
    "cost",
    "Cost",
    ":material/payments:",
    "What speculation saves, when training has paid for itself, and where it begins to cost.",
)
LEARN = Page(
    "learn",
    "Learn",
    ":material/school:",
    "Why speculative decoding loses nothing, when it pays, and how each method drafts.",
)
SERVERS = Page(
    "servers",
    "Servers",
    ":material/dns:",
    "What runs where, what it drafts with, and how much of it can be seen.",
)

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
