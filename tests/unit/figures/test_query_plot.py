"""Plots of rows that anybody may have written."""

from __future__ import annotations

from datetime import date
from html import unescape
from typing import Any

import plotly.graph_objects as go
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.plot_choice import Plot, PlotKind
from specviz.figures.style import DARK, LIGHT
from specviz.views.query.plot import MOST_BARS, MOST_GROUPS, left_out, query_plot

HOSTILE = "<img src=x onerror=alert(1)>\u202e\n<b>"
NAMES = ["a", "b", "n"]


def drawn(plot: Plot, rows: list[tuple[Any, ...]]) -> go.Figure:
    return query_plot(plot, NAMES, rows, LIGHT)


def test_a_heat_map_has_each_row_in_its_cell() -> None:
    plot = Plot(PlotKind.HEAT, "a", "b", "n")
    rows = [(10, "x", 1.5), (2, "x", 2.5), (2, "y", 3.5)]
    (cells,) = drawn(plot, rows).data
    assert [list(row) for row in cells.z] == [[2.5, 1.5], [3.5, None]]  # 2 before 10
    figure = query_plot(plot, NAMES, rows, DARK)
    assert list(figure.layout.xaxis.ticktext) == ["2", "10"]
    assert left_out(plot, NAMES, rows) == ""
    twice = [*rows, (2, "y", 9.0)]
    assert list(drawn(plot, twice).data[0].z[1]) == [3.5, None]
    assert left_out(plot, NAMES, twice) == "Several rows belong in one cell: the first is drawn."


def test_the_titles_beside_a_low_heat_map_fit_its_height() -> None:
    names = ["a", "the text that <i>was</i> asked for", "accepted, % of all the draft tokens"]
    plot = Plot(PlotKind.HEAT, *names)
    for rows, least, most in ((2, 2, 3), (12, 1, 1)):
        cells = [("x", str(place), float(place)) for place in range(rows)]
        figure = query_plot(plot, names, cells, LIGHT)
        for title in (figure.data[0].colorbar.title, figure.layout.yaxis.title):
            lines = title.text.split("<br>")
            assert least <= len(lines) <= most
            assert all(7 * len(unescape(line)) <= figure.layout.height - 110 for line in lines)
            assert unescape(" ".join(lines)) in names


def test_bars_stand_in_the_order_of_the_rows() -> None:
    plot = Plot(PlotKind.BARS, "a", value="n", by="b")
    figure = drawn(plot, [("z", "u", 1), ("y", "v", 2), ("x", "u", 3), ("w", "u", None)])
    assert list(figure.layout.yaxis.ticktext) == ["z", "y", "x"]
    assert [(bar.name, list(bar.y), list(bar.x)) for bar in figure.data] == [
        ("u", [0, 2], [1.0, 3.0]),
        ("v", [1], [2.0]),
    ]
    many = [(str(place), "u", place) for place in range(MOST_BARS + 2)]
    assert len(drawn(plot, many).data[0].x) == MOST_BARS
    assert left_out(plot, NAMES, many) == "The first 60 of 62 are drawn; the table has all."


def test_lines_go_forward_and_points_stay() -> None:
    rows = [(3, "u", 1.0), (1, "u", 2.0), (2, "v", 3.0), (None, "v", 3.0), (2, "v", float("nan"))]
    line = drawn(Plot(PlotKind.LINE, "a", value="n", by="b"), rows)
    assert [(list(one.x), list(one.y)) for one in line.data] == [([1, 3], [2, 1]), ([2], [3])]
    points = drawn(Plot(PlotKind.POINTS, "a", value="n"), rows)
    assert list(points.data[0].x) == [3, 1, 2] and points.data[0].mode == "markers"
    days = [(date(2026, 11, 2), "u", 1), (date(2026, 11, 1), "u", 2)]
    assert list(drawn(Plot(PlotKind.LINE, "a", value="n"), days).data[0].y) == [2, 1]
    groups = [(1, str(place), 1) for place in range(MOST_GROUPS + 1)]
    plot = Plot(PlotKind.LINE, "a", value="n", by="b")
    assert len(drawn(plot, groups).data) == MOST_GROUPS
    assert left_out(plot, NAMES, groups) == "The first 12 of 13 in “b” are drawn."


def test_what_models_write_is_no_markup() -> None:
    rows = [(HOSTILE, HOSTILE, 1), ("2026-01-01", "7", 2)]
    for plot in (
        Plot(PlotKind.BARS, "a", value="n", by="b"),
        Plot(PlotKind.HEAT, "a", "b", "n"),
        Plot(PlotKind.POINTS, "a", value="n", by="b"),
    ):
        reported = drawn(plot, rows).to_json()
        assert "onerror" in reported and "<img" not in reported and "<b>" not in reported
        assert "\\u202e" not in reported and "\u202e" not in reported


numbers = st.integers(-(2**70), 2**70) | st.floats()
KINDS = [numbers, st.text(max_size=5), st.booleans(), st.dates()]


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """Rows whose columns hold one kind of value each, or none."""
    a, b = (draw(st.sampled_from(KINDS)) for _ in "ab")
    row = st.tuples(st.none() | a, st.none() | b, st.none() | numbers)
    return draw(st.lists(row, max_size=20))


@given(
    tables(),
    st.sampled_from(
        [
            Plot(PlotKind.BARS, "a", value="n", by="b"),
            Plot(PlotKind.HEAT, "a", "b", "n"),
            Plot(PlotKind.HEAT, "n", "b", "n"),
            Plot(PlotKind.LINE, "a", value="n", by="b"),
            Plot(PlotKind.POINTS, "b", value="n", by="a"),
        ]
    ),
)
def test_any_rows_can_be_drawn(rows: list[tuple[Any, ...]], plot: Plot) -> None:
    drawn(plot, rows)
    left_out(plot, NAMES, rows)
