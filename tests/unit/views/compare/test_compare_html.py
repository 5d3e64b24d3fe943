"""Aligned answers as HTML and the tables of the Compare page: hostile text stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from specviz.analysis.compare.paired import FIGURES, Change
from specviz.analysis.compare.pieces import by_words
from specviz.analysis.compare.rows import aligned_rows
from specviz.figures.style import DARK, LIGHT, Ground
from specviz.views.compare.html import rows_html, shown_text
from specviz.views.compare.tables import NOT_COMPARABLE, change_table, signed

HOSTILE = (
    "<script>window.owned = 1</script>",
    "<img src=x onerror=alert(1)>",
    "</td></table><h1>out</h1>",
    "\u202egnp.exe \x1b[31mred\x07",
    "שלום & <b>",
)


class Reader(HTMLParser):
    """What a browser would make of it: the elements, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("ground", [LIGHT, DARK])
@pytest.mark.parametrize("hostile", HOSTILE)
def test_model_text_is_text(hostile: str, ground: Ground) -> None:
    rows = aligned_rows(by_words(f"same\n{hostile}"), [by_words(f"same\n{hostile} more")])
    reader = Reader()
    reader.feed(rows_html([hostile, "b"], ["#000000", "#111111"], rows, ground))
    assert reader.tags == {"div", "table", "thead", "tbody", "tr", "th", "td", "span", "mark"}
    assert reader.text.count(shown_text(hostile)) >= 2
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", reader.text.replace(hostile, "", 1))


def test_spaces_that_differ_are_seen() -> None:
    rows = aligned_rows(by_words("a b"), [by_words("a  b")])
    html = rows_html(["x", "y"], ["#000000", "#111111"], rows, LIGHT)
    assert "␣␣</mark>" in html


def test_the_first_difference_is_marked_once_in_either() -> None:
    rows = aligned_rows(by_words("a b c d e f g"), [by_words("a X c d e f Y")])
    html = rows_html(["x", "y"], ["#000000", "#111111"], rows, LIGHT)
    assert html.count("<mark") == 4
    assert html.count("box-shadow") == 2


def test_times_that_should_not_be_compared_get_no_verdict() -> None:
    found = [Change(figure, 10.0, 5.0, 0.5, 0.4, 0.6, 9, 1) for figure in FIGURES]
    table = change_table({"a": found, "b": found}, {"a": [], "b": ["other hardware"]})
    verdicts = dict(zip(table["figure"][:6], table["verdict"][6:], strict=True))
    assert {verdicts[f"{figure.name}, {figure.unit}"] for figure in FIGURES[:4]} == {NOT_COMPARABLE}
    assert verdicts["Acceptance rate"] == "worse"
    assert table["verdict"][0] == "better"
    assert [*table["run"]] == ["a", "", "", "", "", "", "b", "", "", "", "", ""]
    assert table.loc[0, "prompts"] == "9 of 10"
    assert table.loc[0, "reference → this run"] == "10.0 → 5.00"


def test_differences_have_a_sign() -> None:
    assert [signed(value) for value in (0, 0.06, -1234.0)] == ["0", "+0.060", "−1,234"]
