"""The rows of a query as a plot, for any columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from specviz.analysis.plot_choice import Plot, PlotKind
from specviz.analysis.text import shortened, terminal_text
from specviz.figures.style import Ground, blended, plain, styled
from specviz.palette import ARM_COLOURS, BASELINE, DRAFTING

Rows = Sequence[Sequence[Any]]

MOST_BARS = 60
MOST_CELLS = 40
"""Rows, and columns, of a heat map."""

MOST_GROUPS = 12
LABELLED_CELLS = 240
LABEL_CHARACTERS = 36
TITLES_PX, CHARACTER_PX = 110, 7
"""What the titles of a heat map take of its height; a character of a title, on average."""

COLOURS = (*ARM_COLOURS, DRAFTING, BASELINE)
DASHES = ("solid", "dot")


def query_plot(plot: Plot, names: Sequence[str], rows: Rows, ground: Ground) -> go.Figure:
    """A plot that `fits` the columns; rows without a number in it are left out."""
    at = {name: place for place, name in enumerate(names)}
    drawn = [row for row in rows if _is_number(row[at[str(plot.value)]])]
    figure = go.Figure()
    if plot.kind is PlotKind.HEAT:
        return _heat(figure, plot, at, drawn, ground)
    if plot.kind is PlotKind.BARS:
        return _bars(figure, plot, at, drawn)
    return _marks(figure, plot, at, drawn)


def left_out(plot: Plot, names: Sequence[str], rows: Rows) -> str:
    """What the plot does not show, in a sentence; empty if it shows every row."""
    at = {name: place for place, name in enumerate(names)}
    drawn = [row for row in rows if _is_number(row[at[str(plot.value)]])]
    x = len(_unique(row[at[str(plot.x)]] for row in drawn))
    groups = len(_unique(row[at[plot.by]] for row in drawn)) if plot.by else 1
    if plot.kind is PlotKind.HEAT:
        y = len(_unique(row[at[str(plot.y)]] for row in drawn))
        if max(x, y) > MOST_CELLS:
            return f"The first {MOST_CELLS} rows and columns are drawn; the table has all."
        if len({(row[at[str(plot.x)]], row[at[str(plot.y)]]) for row in drawn}) < len(drawn):
            return "Several rows belong in one cell: the first is drawn."
    if plot.kind is PlotKind.BARS and x > MOST_BARS:
        return f"The first {MOST_BARS} of {x:,} are drawn; the table has all."
    if groups > MOST_GROUPS:
        return f"The first {MOST_GROUPS} of {groups:,} in “{plot.by}” are drawn."
    return ""


def _heat(
    figure: go.Figure, plot: Plot, at: dict[str, int], rows: Rows, ground: Ground
) -> go.Figure:
    x, y, value = at[str(plot.x)], at[str(plot.y)], at[str(plot.value)]
    across = _ordered(row[x] for row in rows)[:MOST_CELLS]
    down = _ordered(row[y] for row in rows)[:MOST_CELLS]
    first: dict[tuple[Any, Any], float] = {}
    for row in rows:
        first.setdefault((row[x], row[y]), float(row[value]))
    cells = [[first.get((one, other)) for one in across] for other in down]
    labelled = len(across) * len(down) <= LABELLED_CELLS
    height = max(240, TITLES_PX + 34 * len(down))
    figure.add_heatmap(
        z=cells, xgap=2, ygap=2,
        colorscale=[[0, _faint(ground)], [1, ground.bonus]],
        colorbar={
            "title": {"text": _upright(plot.value, height), "side": "right"},
            "thickness": 12, "outlinewidth": 0,
        },
        textfont={"size": 11},
        texttemplate="%{z:.4~g}" if labelled else None,
        customdata=[[f"{_label(o)}, {_label(a)}" for a in across] for o in down],
        hovertemplate="%{customdata}: %{z:.6~g}<extra></extra>", hoverongaps=False,
    )  # fmt: skip
    styled(figure, x_title=_label(plot.x), y_title=_upright(plot.y, height))
    figure.update_xaxes(**_ticks(across))
    figure.update_yaxes(**_ticks(down), autorange="reversed", showgrid=False)
    figure.update_layout(height=height, margin={"l": 8, "t": 12})
    figure.update_yaxes(automargin=True)
    return figure


def _bars(figure: go.Figure, plot: Plot, at: dict[str, int], rows: Rows) -> go.Figure:
    """Lying, so that long names can be read, and in the order of the rows from the top."""
    x, value = at[str(plot.x)], at[str(plot.value)]
    shown = _unique(row[x] for row in rows)[:MOST_BARS]
    place = {one: number for number, one in enumerate(shown)}
    groups = _groups(plot, at, [row for row in rows if row[x] in place])
    for number, (name, members) in enumerate(groups):
        colour = COLOURS[number % len(COLOURS)]
        figure.add_bar(
            orientation="h", name=_label(name),
            y=[place[row[x]] for row in members], x=[float(row[value]) for row in members],
            marker={"color": colour}, customdata=[_label(row[x]) for row in members],
            hovertemplate="%{customdata}: %{x:.6~g}<extra></extra>",
        )  # fmt: skip
    styled(figure, x_title=_label(plot.value), y_title="")
    figure.update_xaxes(gridcolor="rgba(128,128,128,0.2)", showgrid=True)
    figure.update_yaxes(**_ticks(shown), autorange="reversed", showgrid=False, automargin=True)
    figure.update_layout(
        height=110 + 24 * max(3, len(shown)), margin={"l": 8, "t": 12},
        barmode="stack" if len({row[x] for row in rows}) == len(rows) else "group",
        showlegend=plot.by is not None, legend={"y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    return figure


def _marks(figure: go.Figure, plot: Plot, at: dict[str, int], rows: Rows) -> go.Figure:
    x, value = at[str(plot.x)], at[str(plot.value)]
    rows = [row for row in rows if _is_place(row[x])]
    words = _ordered(row[x] for row in rows) if any(_is_word(row[x]) for row in rows) else []
    place = {one: number for number, one in enumerate(words)}
    is_line = plot.kind is PlotKind.LINE
    for number, (name, members) in enumerate(_groups(plot, at, rows)):
        points = [(place.get(row[x], row[x]), float(row[value])) for row in members]
        if is_line:
            points.sort(key=lambda point: point[0])
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS)]
        figure.add_scatter(
            x=[one for one, _ in points], y=[other for _, other in points], name=_label(name),
            mode="lines+markers" if is_line else "markers",
            line={"color": colour, "width": 2, "dash": dash}, marker={"size": 7, "color": colour},
            hovertemplate=f"{_label(name)} %{{x}}: %{{y:.6~g}}<extra></extra>",
        )  # fmt: skip
    styled(figure, x_title=_label(plot.x), y_title=_label(plot.value))
    figure.update_layout(
        height=380, showlegend=plot.by is not None, hovermode="closest",
        margin={"t": 12}, legend={"y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    if words:
        figure.update_xaxes(**_ticks(words))
    return figure


def _groups(plot: Plot, at: dict[str, int], rows: Rows) -> list[tuple[Any, list[Sequence[Any]]]]:
    """The rows of each value of `by`, at most `MOST_GROUPS` of them."""
    if plot.by is None:
        return [("", list(rows))]
    place = at[plot.by]
    members: dict[Any, list[Sequence[Any]]] = {}
    for row in rows:
        members.setdefault(row[place], []).append(row)
    return list(members.items())[:MOST_GROUPS]


def _ticks(values: Sequence[Any]) -> dict[str, Any]:
    """Places 0, 1, … with their names: plotly would take some words for numbers or dates."""
    return {
        "tickmode": "array",
        "tickvals": [*range(len(values))],
        "ticktext": [_label(value) for value in values],
    }


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _ordered(values: Iterable[Any]) -> list[Any]:
    """Numbers and times ascending, words as they come."""
    found = _unique(values)
    if any(one is None or _is_word(one) for one in found):
        return found
    return sorted(found)


def _upright(name: str | None, height: int) -> str:
    """A name that is read upwards, in as many lines as the plot's height makes of it."""
    return "<br>".join(map(plain, wrap(_short(name), (height - TITLES_PX) // CHARACTER_PX)))


def _label(value: Any) -> str:
    """A name or a value as one short line, escaped for plotly."""
    return plain(_short(value))


def _short(value: Any) -> str:
    if value is None:
        return "–"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return shortened(terminal_text(text), LABEL_CHARACTERS)


def _is_number(value: Any) -> bool:
    return value is not None and not isinstance(value, str) and math.isfinite(value)


def _is_word(value: Any) -> bool:
    return isinstance(value, str | bool)


def _is_place(value: Any) -> bool:
    return isinstance(value, date) or _is_word(value) or _is_number(value)


def _faint(ground: Ground) -> str:
    """The colour of the smallest value: a cell with it is not an empty cell."""
    return blended(ground.bonus, ground.background, 0.08)
