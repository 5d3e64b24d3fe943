"""The bars of mean steps are as long as the steps, on pages and in files, whatever is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specviz.analysis.step_time.bar import BESIDE, COLOURS, PLAIN, WHOLE, StepBar
from specviz.analysis.step_time.step_time import StepTime
from specviz.figures.step_time import step_time_bars
from specviz.figures.style import DARK, LIGHT, Ground
from specviz.report.step_time_part import step_time_part

TURNS = StepTime(10, 2.0, 10.0, 5.0, 3.0, 0.0, 6.0, 1.0)
BOTH = replace(TURNS, draft_ms=1.0, overlapped_draft_ms=2.0, other_ms=3.0)
UNKNOWN = StepTime(10, 2.0, 10.0, 5.0)
BARS = [StepBar("turns", TURNS, 4.0), StepBar("both <b>", BOTH, 4.0), StepBar("server", UNKNOWN)]


@pytest.mark.parametrize("bar", BARS)
def test_a_bar_is_as_long_as_its_step(bar: StepBar) -> None:
    assert sum(bar.parts.values()) == pytest.approx(bar.found.step_ms)
    assert bar.parts.keys() <= COLOURS.keys()


@pytest.mark.parametrize("ground", [LIGHT, DARK])
def test_the_figure_stacks_the_parts_of_every_arm(ground: Ground) -> None:
    figure = step_time_bars(BARS, ground)
    *stacked, marks = figure.data
    assert [trace.name for trace in stacked] == [*COLOURS] and marks.name == PLAIN
    lengths = [sum(trace.x[place] or 0 for trace in stacked) for place in range(len(BARS))]
    assert lengths == pytest.approx([10.0] * 3)
    assert {trace.name for trace in stacked if trace.marker.pattern.shape} == {BESIDE, WHOLE}
    assert list(marks.x) == [8.0, 8.0] and list(marks.y) == ["turns", "both &lt;b&gt;"]


def test_the_file_draws_the_same_and_says_it_in_words() -> None:
    text = step_time_part(BOTH, 4.0, "why <b>")
    assert text.count("<rect") == 2 * 4 + 1  # the parts, their keys, and plain decoding
    assert "draft while verifying 2.00 ms" in text and "why &lt;b&gt;" in text
    assert step_time_part(None, None, "why") == '<p class="sentence">why</p>'
