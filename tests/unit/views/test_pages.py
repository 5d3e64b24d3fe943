"""Every page once: its file, its address, and the addresses it had before."""

from __future__ import annotations

import re
from itertools import chain

from specviz.paths import PROJECT_ROOT
from specviz.views.shared.pages import PAGES, SECTIONS

FORMER = {"run": "runs", "decide": "technique"}


def test_every_page_has_a_file_and_every_file_is_a_page() -> None:
    files = {path.stem for path in (PROJECT_ROOT / "pages").glob("*.py")}
    assert files == set(PAGES)
    assert len(PAGES) == len(list(chain.from_iterable(SECTIONS.values())))
    assert all(page.path.is_file() for page in PAGES.values())


def test_former_addresses_lead_somewhere_and_hide_no_page() -> None:
    former = {page.former_address: page.name for page in PAGES.values() if page.former_address}
    assert former == FORMER
    assert not set(former) & set(PAGES)


def test_no_other_file_spells_out_where_a_page_is() -> None:
    spelled = re.compile(r"[\"']pages[\"'/]|(?:page_link|switch_page)\(")
    files = [*(PROJECT_ROOT / "pages").glob("*.py"), *PROJECT_ROOT.glob("specviz/views/**/*.py")]
    found = {path.relative_to(PROJECT_ROOT).as_posix() for path in files
             if spelled.search(path.read_text("utf-8"))}  # fmt: skip
    assert found == {"specviz/views/shared/pages.py"}


def test_every_page_says_in_one_line_what_it_is_for() -> None:
    purposes = [page.purpose for page in PAGES.values()]
    assert all(40 < len(purpose) < 100 and purpose[-1] in ".?" for purpose in purposes)
    assert len(set(purposes)) == len({page.browser_title for page in PAGES.values()}) == len(PAGES)
