"""Which plot suits a table, from its columns alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

FEW = 12
"""Lines or kinds of bars that can be distinguished."""


class Sort(StrEnum):
    """What a column holds: numbers, words (true and false too), times, or what no plot shows."""

    NUMBER = "number"
    WORD = "word"
    TIME = "time"
    OTHER = "other"


class PlotKind(StrEnum):
    """The plots that there are; `table`: none."""

    HEAT = "heat"
    BARS = "bars"
    LINE = "line"
    POINTS = "points"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class PlotColumn:
    """`distinct`: how many different values there are, empty ones left out."""

    name: str
    sort: Sort
    distinct: int


@dataclass(frozen=True, slots=True)
class Plot:
    """Columns by name. `value` is drawn upwards, or as the colour of a heat map, whose rows `y`
    names; `by` distinguishes lines, points or bars."""

    kind: PlotKind = PlotKind.TABLE
    x: str | None = None
    y: str | None = None
    value: str | None = None
    by: str | None = None


_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|FLOAT$|DOUBLE$|DECIMAL\(\d+,\d+\)$")
_TIME = re.compile(r"TIMESTAMP(_(S|MS|NS))?$|DATE$")
_WORD = re.compile(r"VARCHAR$|BOOLEAN$|UUID$|ENUM\(.*\)$", re.DOTALL)


def sort_of(duckdb_type: str) -> Sort:
    """What a column of that type of DuckDB's holds."""
    for sort, pattern in ((Sort.NUMBER, _NUMBER), (Sort.TIME, _TIME), (Sort.WORD, _WORD)):
        if pattern.match(duckdb_type):
            return sort
    return Sort.OTHER


def plot_columns(
    names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]
) -> list[PlotColumn]:
    """What a plot has to know of a table; `types` are DuckDB's."""
    columns = []
    for place, (name, duckdb_type) in enumerate(zip(names, types, strict=True)):
        sort = sort_of(duckdb_type)
        known = sort is not Sort.OTHER  # lists and structs cannot be in a set
        values = {row[place] for row in rows if row[place] is not None} if known else set()
        columns.append(PlotColumn(name, sort, len(values)))
    return columns


def choose_plot(columns: Sequence[PlotColumn], rows: int) -> Plot:
    """The plot to begin with; of kind `table` where none would show more.

    A time and a number make a line; one row per word makes bars, one row per pair of words a heat
    map; two numbers make a line, or points where several rows are at one place of it. A further
    column of few words distinguishes them. Ids are no words.
    """
    words = _of(columns, Sort.WORD)
    numbers = _of(columns, Sort.NUMBER)
    times = _of(columns, Sort.TIME)
    if rows < 2 or not numbers:
        return Plot()
    if times and times[0].distinct > 1:
        return _along(times[0], numbers[0], words, rows)
    if single := [word for word in words if word.distinct == rows]:
        others = [word for word in words if word is not single[0]]
        return Plot(PlotKind.BARS, single[0].name, value=numbers[0].name, by=_by(others))
    if len(words) > 1 and min(words[0].distinct, words[1].distinct) > 1:
        down, across = sorted(words[:2], key=lambda word: -word.distinct)
        if rows <= down.distinct * across.distinct:
            return Plot(PlotKind.HEAT, across.name, down.name, numbers[0].name)
    if len(numbers) > 1 and numbers[0].distinct > 1:
        return _along(numbers[0], numbers[1], words, rows)
    return Plot()


def possible_kinds(columns: Sequence[PlotColumn]) -> list[PlotKind]:
    """The kinds that these columns can make, `table` left out."""
    plain = [column for column in columns if column.sort is not Sort.OTHER]
    if len(plain) < 2 or not _of(columns, Sort.NUMBER):
        return []
    kinds = [PlotKind.BARS, PlotKind.LINE, PlotKind.POINTS]
    return [PlotKind.HEAT, *kinds] if len(plain) > 2 else kinds


def fits(plot: Plot, columns: Sequence[PlotColumn]) -> bool:
    """Whether these columns have what the plot names: it may be of a link or an earlier query."""
    sorts = {column.name: column.sort for column in columns}
    needed = [plot.x, plot.value] + [plot.y] * (plot.kind is PlotKind.HEAT)
    named = [*needed, plot.by or plot.x, plot.y or plot.x]
    if plot.kind is PlotKind.TABLE or any(name not in sorts for name in named):
        return False
    drawable = all(sorts[str(name)] is not Sort.OTHER for name in named)
    return drawable and sorts[str(plot.value)] is Sort.NUMBER


def _of(columns: Sequence[PlotColumn], sort: Sort) -> list[PlotColumn]:
    """Those of a sort that hold anything, ids left out."""
    return [
        column
        for column in columns
        if column.sort is sort and column.distinct and not column.name.lower().endswith("_id")
    ]


def _along(x: PlotColumn, value: PlotColumn, words: Sequence[PlotColumn], rows: int) -> Plot:
    by = _by(words)
    groups = next((word.distinct for word in words if word.name == by), 1)
    kind = PlotKind.LINE if rows <= x.distinct * groups else PlotKind.POINTS
    return Plot(kind, x.name, value=value.name, by=by)


def _by(words: Sequence[PlotColumn]) -> str | None:
    """The first column of few words."""
    return next((word.name for word in words if 1 < word.distinct <= FEW), None)
