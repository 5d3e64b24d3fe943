"""The other charts: what is drawn equals what was measured."""

from __future__ import annotations

import pytest

from specviz.analysis.depths import DepthAcceptance
from specviz.analysis.skipped import SkippedLayers
from specviz.figures.style import blended, token_label
from specviz.figures.timeline import timeline
from specviz.trace import ROOT, ExtraBytes, Lane, Span, Step, TokenDecision, Verdict
from specviz.views.runs.figures.acceptance import conditional_acceptance, unconditional_acceptance
from specviz.views.runs.figures.memory import extra_memory
from specviz.views.runs.figures.skipped_layers import skipped_layers_figure


def test_the_time_line_begins_at_the_first_step_shown() -> None:
    steps = [
        Step(4, 30.0, (), (), spans=(Span(Lane.DRAFT, 20, 23), Span(Lane.VERIFY, 22, 30))),
        Step(5, 40.0, (), (), spans=(Span(Lane.VERIFY, 30, 40),)),
    ]
    figure = timeline({"mirror <K>": steps})
    draft, verify, both = figure.data
    assert (draft.base, draft.x) == ((0.0,), (3.0,))
    assert (verify.base, verify.x) == ((2.0, 10.0), (8.0, 10.0))
    assert (both.base, both.x) == ((2.0,), (1.0,))
    assert "verify of step 6" in verify.hovertext[1]
    assert figure.layout.annotations[0].text == "<b>mirror &lt;K&gt;</b>"
    assert list(figure.layout.yaxis.ticktext) == ["draft", "verify", "both at once"]


def test_an_arm_without_overlap_keeps_its_empty_lane() -> None:
    figure = timeline({"a": [Step(0, 1.0, (), (), spans=(Span(Lane.VERIFY, 0, 1),))]})
    assert len(figure.data) == 1
    assert len(figure.layout.yaxis.tickvals) == 3


def test_the_heat_map_shows_what_was_skipped_over_what_became_of_it() -> None:
    verdicts = (Verdict.ACCEPTED, Verdict.REJECTED, Verdict.UNVERIFIED)
    drafted = tuple(TokenDecision(n + 1, n - 1 if n else ROOT, 1, "x", v)
                    for n, v in enumerate(verdicts))  # fmt: skip
    steps = (Step(1, 1.0, drafted, ()), Step(2, 2.0, (), ()))
    grid = SkippedLayers(("attention 0", "mlp 0"), steps, ((True, False), (False, True)))
    heat, accepted, others = skipped_layers_figure(grid).data
    assert [list(line) for line in heat.z] == [[1, 0], [0, 1]]
    assert list(heat.x) == [2, 3]
    assert (list(accepted.y), list(others.y)) == ([1, 0], [2, 0])


def test_a_grid_without_a_skipped_layer_can_be_drawn() -> None:
    assert skipped_layers_figure(SkippedLayers((), (Step(0, 1.0, (), ()),), ())).data


def test_memory_is_drawn_in_a_unit_that_fits() -> None:
    figure = extra_memory({"a": ExtraBytes(3 << 20, 1 << 19, 0), "baseline": ExtraBytes()})
    assert [trace.name for trace in figure.data] == ["weights", "KV cache", "buffers"]
    assert list(figure.data[0].x) == [3.0, 0.0]
    assert list(figure.data[1].x) == [0.5, 0.0]
    assert "MiB" in figure.layout.xaxis.title.text
    assert [box.text for box in figure.layout.annotations] == [" 3.50 MiB", " 0 B"]


def test_no_memory_at_all_is_an_axis_all_the_same() -> None:
    assert extra_memory({"baseline": ExtraBytes()}).layout.xaxis.range == (0, 1)


def test_both_acceptance_rates_come_with_their_counts() -> None:
    depths = [DepthAcceptance(1, 10, 10, 8), DepthAcceptance(2, 10, 0, 0)]
    (plain,) = unconditional_acceptance({"m": depths}, depth_word="head").data
    assert (list(plain.y), list(plain.customdata)) == ([0.8, 0.0], ["8 of 10", "0 of 10"])
    figure = conditional_acceptance({"m": depths}, depth_word="head")
    (conditional,) = figure.data
    assert list(conditional.y) == [0.8, None]
    assert list(conditional.text) == ["0.80", ""]
    assert figure.layout.xaxis.title.text == "head"


@pytest.mark.parametrize(
    ("share", "colour"), [(0.0, "#ffffff"), (1.0, "#009e73"), (0.5, "#80ceb9")]
)
def test_blended_colours(share: float, colour: str) -> None:
    assert blended("#009E73", "#ffffff", share) == colour


def test_labels_are_shortened_before_they_are_escaped() -> None:
    assert token_label("<<<<<<", 3) == "&lt;&lt;…"
