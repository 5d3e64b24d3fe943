"""The drawn draft: every candidate once, on its column, nothing of the model read as markup."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from specviz.figures.draft_tree import draft_tree
from specviz.figures.style import DARK, LIGHT, blended
from specviz.palette import ACCEPTED, RECOVERED, REJECTED
from specviz.trace import ROOT, EmittedToken, Origin, Step, TokenDecision, TopToken, Verdict

A, R, U = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.UNVERIFIED
TOP = (TopToken(4, "<i>best</i>", 0.5), TopToken(5, " b", 0.0001))


def token(
    depth: int, parent: int, text: str | None, verdict: Verdict, **more: Any
) -> TokenDecision:
    return TokenDecision(depth, parent, 7, text, verdict, **more)


TREE = Step(
    3,
    9.0,
    (
        token(1, ROOT, " no", R, draft_prob=0.5, target_prob=0.1, accept_prob=0.2, u=0.9),
        token(1, ROOT, "<b>yes</b>", A, draft_prob=0.25, target_prob=0.8, accept_prob=1.0, u=0.4),
        token(2, 0, "left", U, draft_prob=0.5),
        token(2, 1, "\n", R, target_prob=0.1, accept_prob=0.0, target_top=TOP),
    ),
    (
        EmittedToken(0, 7, "<b>yes</b>", Origin.ACCEPTED),
        EmittedToken(1, 4, "own", Origin.RECOVERED),
    ),
)


def boxes(figure: go.Figure) -> dict[str, Any]:
    return {box.text.split("<br>")[0]: box for box in figure.layout.annotations}


def hovers(figure: go.Figure) -> list[str]:
    (points,) = [trace for trace in figure.data if trace.mode == "markers"]
    return list(points.hovertext)


def test_every_token_has_a_box_in_the_column_of_its_depth() -> None:
    found = boxes(draft_tree(TREE, "def f", LIGHT))
    assert {name: box.x for name, box in found.items()} == {
        "…def␣f": 0,
        "<s>␣no</s>": 1,
        "&lt;b&gt;yes&lt;/b&gt;": 1,
        "<s>left</s>": 2,
        "<s>⏎</s>": 2,
        "own": 2,
    }
    assert len({(box.x, box.y) for box in found.values()}) == len(found)


def test_boxes_tell_the_verdict_by_their_colour() -> None:
    found = boxes(draft_tree(TREE, "", DARK))
    assert found["&lt;b&gt;yes&lt;/b&gt;"].bordercolor == ACCEPTED.lower()
    assert found["<s>␣no</s>"].bordercolor == REJECTED.lower()
    assert found["own"].bordercolor == RECOVERED.lower()
    assert found["<s>left</s>"].bordercolor == blended(DARK.muted, DARK.background, 0.6)


def test_boxes_show_the_numbers_that_are_known() -> None:
    found = boxes(draft_tree(TREE, "", LIGHT))
    assert "0.10 / 0.50 → 0.20" in found["<s>␣no</s>"].text
    assert "– / 0.50<" in found["<s>left</s>"].text
    assert "recovered" in found["own"].text


def test_hovering_tells_all_that_is_known() -> None:
    _, no, yes, left, newline, own = hovers(draft_tree(TREE, "def f", LIGHT))
    for words in ("candidate 1 of 2", "target probability 0.100", "u 0.900", "u 0.90 &gt; 0.20"):
        assert words in no
    assert yes.startswith("<b>&lt;b&gt;yes&lt;/b&gt;</b>")
    assert "not judged: an earlier token was rejected" in left
    assert "&lt;i&gt;best&lt;/i&gt; 0.500" in newline and "␣b &lt;0.001" in newline
    assert "target's first choice: no" in newline
    assert "in place of the rejected" in own


def test_typical_acceptance_is_not_called_the_first_choice() -> None:
    hover = hovers(draft_tree(TREE, "", LIGHT, typical=True))[4]
    assert "typical enough for the target: no" in hover


def test_the_accepted_path_is_thick_and_what_was_never_judged_is_dotted() -> None:
    lines = [trace.line for trace in draft_tree(TREE, "", LIGHT).data if trace.mode == "lines"]
    assert [(line.width, line.dash) for line in lines] == [
        (1.5, "solid"),
        (3, "solid"),
        (1.5, "dot"),
        (1.5, "solid"),
        (3, "solid"),
    ]


@pytest.mark.parametrize("k", [1, 5, 32])
def test_a_chain_of_any_length_fits_the_page(k: int) -> None:
    drafted = tuple(token(n + 1, n - 1, "a long token", A) for n in range(k))
    emitted = (EmittedToken(0, 1, "x", Origin.BONUS),)
    figure = draft_tree(Step(0, 1.0, drafted, emitted), "", LIGHT)
    widths = {box.width for box in figure.layout.annotations}
    assert len(widths) == 1
    assert widths.pop() * (k + 2) <= 980


def test_an_unnamed_token_is_a_question_mark() -> None:
    figure = draft_tree(Step(0, 1.0, (token(1, ROOT, None, R),), ()), "", LIGHT)
    assert "<s>?</s>" in boxes(figure)
