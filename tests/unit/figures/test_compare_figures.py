"""The charts of the Compare page: what is drawn equals what was found."""

from __future__ import annotations

import pytest

from specviz.analysis.compare.paired import FIGURES, Change
from specviz.analysis.compare.positions import PositionRate
from specviz.views.compare.figures.changes import ChangeDot, paired_changes, percent_text
from specviz.views.compare.figures.positions import PositionLine, acceptance_by_position


def change(place: int, ratio: float | None, low: float | None, high: float | None) -> Change:
    return Change(FIGURES[place], 10.0, 10.0 * (ratio or 1.0), ratio, low, high, 9, 0)


def test_changes_are_ratios_with_whiskers_and_hollow_within_noise() -> None:
    dots = [
        ChangeDot("a <b>", "#000000", change(0, 0.5, 0.4, 0.6)),
        ChangeDot("a <b>", "#000000", change(1, 1.1, 0.9, 1.3)),
        ChangeDot("c", "#111111", change(0, 2.0, None, None)),
        ChangeDot("c", "#111111", change(1, None, None, None)),
    ]
    figure = paired_changes(dots)
    first, second = figure.data
    assert (first.name, second.name) == ("a &lt;b&gt;", "c")
    assert tuple(first.x) == (0.5, 1.1)
    assert tuple(second.x) == (2.0,)
    assert first.error_x.array == pytest.approx((0.1, 0.2))
    assert first.error_x.arrayminus == pytest.approx((0.1, 0.2))
    assert second.error_x.array == (None,)
    assert tuple(first.marker.symbol) == ("circle", "circle-open")
    assert "−50.0 % (−60.0 % to −40.0 %), 9 prompts, better" in first.hovertext[0]
    low, high = figure.layout.xaxis.range
    assert 10**low < 0.4 and 10**high > 2.0
    assert {"−60 %", "0 %", "+100 %"} <= {*figure.layout.xaxis.ticktext}
    assert len(figure.layout.xaxis.tickvals) <= 9


def test_a_change_is_worded() -> None:
    assert [percent_text(ratio) for ratio in (1.0, 1.041, 0.5, 4.31)] == [
        "0 %", "+4.10 %", "−50.0 %", "+331 %"
    ]  # fmt: skip


def test_positions_of_two_runs_stand_beside_each_other() -> None:
    lines = [
        PositionLine("x", "#000000", (PositionRate(1, 0.9, 0.8, 0.95), PositionRate(2, 0.7))),
        PositionLine("y", "#111111", (PositionRate(1, 0.5),)),
    ]
    first, second = acceptance_by_position(lines).data
    assert tuple(first.y) == (0.9, 0.7)
    assert first.x[0] < 1 < second.x[0]
    assert first.error_y.array == pytest.approx((0.05, None))
    assert first.error_y.arrayminus[0] == pytest.approx(0.1)
    assert first.hovertext[0].endswith("0.900 (0.800 to 0.950)")
    (alone,) = acceptance_by_position(lines[1:]).data
    assert tuple(alone.x) == (1,)
