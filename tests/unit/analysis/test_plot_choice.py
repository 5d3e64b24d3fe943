"""The plot that a table's columns ask for."""

from __future__ import annotations

import pytest

from specviz.analysis.plot_choice import (
    Plot,
    PlotKind,
    Sort,
    choose_plot,
    fits,
    plot_columns,
    possible_kinds,
    sort_of,
)

DAYS = [f"2026-11-0{day}" for day in (1, 2, 3)]


def chosen(types: dict[str, str], rows: list[tuple[object, ...]]) -> Plot:
    return choose_plot(plot_columns(list(types), list(types.values()), rows), len(rows))


@pytest.mark.parametrize(
    ("duckdb_type", "sort"),
    [
        ("BIGINT", Sort.NUMBER),
        ("HUGEINT", Sort.NUMBER),
        ("UTINYINT", Sort.NUMBER),
        ("INTEGER", Sort.NUMBER),
        ("DECIMAL(18,3)", Sort.NUMBER),
        ("DOUBLE", Sort.NUMBER),
        ("VARCHAR", Sort.WORD),
        ("BOOLEAN", Sort.WORD),
        ("ENUM('INTEGER')", Sort.WORD),
        ("TIMESTAMP", Sort.TIME),
        ("TIMESTAMP_MS", Sort.TIME),
        ("DATE", Sort.TIME),
        ("INTERVAL", Sort.OTHER),
        ("TIMESTAMP WITH TIME ZONE", Sort.OTHER),
        ("INTEGER[]", Sort.OTHER),
        ("STRUCT(a INTEGER)", Sort.OTHER),
        ("BLOB", Sort.OTHER),
    ],
)
def test_what_a_type_holds(duckdb_type: str, sort: Sort) -> None:
    assert sort_of(duckdb_type) is sort


def test_two_categories_and_a_number_are_a_heat_map() -> None:
    types = {"method": "VARCHAR", "category": "VARCHAR", "%": "DOUBLE"}
    rows = [(m, c, 1.0) for m in "ab" for c in "xyz"]
    assert chosen(types, rows) == Plot(PlotKind.HEAT, "method", "category", "%")
    assert chosen(types, rows[:-1]).kind is PlotKind.HEAT  # a cell may be missing
    assert chosen(types, rows * 2).kind is PlotKind.TABLE  # which of two rows is a cell's?


def test_a_category_and_a_number_are_bars() -> None:
    types = {"id": "VARCHAR", "n": "BIGINT", "of": "VARCHAR"}
    rows = [("a", 1, "x"), ("b", 2, "x"), ("c", 2, "y")]
    assert chosen(types, rows) == Plot(PlotKind.BARS, "id", value="n", by="of")
    types = {"run_id": "VARCHAR", "method": "VARCHAR", "n": "BIGINT"}
    assert chosen(types, [("1", "a", 3), ("2", "b", 4)]).x == "method"


def test_two_numbers_are_a_line_or_points_by_a_word() -> None:
    types = {"method": "VARCHAR", "k": "SMALLINT", "tok/s": "DOUBLE"}
    rows = [(m, k, 10.0 * k) for m in "ab" for k in (1, 2, 3)]
    assert chosen(types, rows) == Plot(PlotKind.LINE, "k", value="tok/s", by="method")
    assert chosen(types, rows * 2).kind is PlotKind.POINTS
    plain = {"k": "SMALLINT", "tok/s": "DOUBLE"}
    assert chosen(plain, [(1, 2.0), (2, 3.0)]) == Plot(PlotKind.LINE, "k", value="tok/s")


def test_a_time_and_a_number_are_a_line() -> None:
    types = {"method": "VARCHAR", "day": "DATE", "n": "BIGINT"}
    rows = [(m, day, 1) for m in "ab" for day in DAYS]
    assert chosen(types, rows) == Plot(PlotKind.LINE, "day", value="n", by="method")


@pytest.mark.parametrize(
    ("types", "rows"),
    [
        ({"n": "BIGINT"}, [(1,), (2,)]),
        ({"a": "VARCHAR"}, [("x",), ("y",)]),
        ({"a": "VARCHAR", "n": "BIGINT"}, [("x", 1)]),
        ({"a": "VARCHAR", "n": "BIGINT"}, []),
        ({"a": "VARCHAR", "n": "BIGINT"}, [("x", None), ("y", None)]),
        ({"l": "INTEGER[]", "m": "MAP(INTEGER, INTEGER)"}, [([1], {1: 2}), ([2], {})]),
    ],
)
def test_where_no_plot_tells_more(types: dict[str, str], rows: list[tuple[object, ...]]) -> None:
    assert chosen(types, rows) == Plot()


def test_a_plot_of_a_link_is_checked_against_the_columns() -> None:
    columns = plot_columns(["a", "n", "l"], ["VARCHAR", "BIGINT", "INTEGER[]"], [("x", 1, [])])
    assert fits(Plot(PlotKind.BARS, "a", value="n"), columns)
    assert fits(Plot(PlotKind.HEAT, "a", "a", "n"), columns)
    for wrong in (
        Plot(),
        Plot(PlotKind.BARS, "a"),
        Plot(PlotKind.BARS, "gone", value="n"),
        Plot(PlotKind.BARS, "a", value="a"),
        Plot(PlotKind.HEAT, "a", value="n"),
        Plot(PlotKind.LINE, "l", value="n"),
        Plot(PlotKind.LINE, "a", value="n", by="gone"),
        Plot(PlotKind.LINE, "a", value="n", by="l"),
    ):
        assert not fits(wrong, columns)
    assert PlotKind.HEAT not in possible_kinds(columns)
    assert possible_kinds(columns[:1]) == []
