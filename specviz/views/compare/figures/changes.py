"""Paired differences: one band per figure, in it one point with its interval per run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

import plotly.graph_objects as go

from specviz.analysis.compare.paired import BETTER, WORSE, Change
from specviz.analysis.text import digits
from specviz.figures.style import plain, styled
from specviz.palette import BASELINE

ROW_PX = 34
DOT_PX = 17
TICKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16)
MOST_TICKS = 9
LEAST_RANGE = (0.9, 1.1)
"""A chart of small changes does not blow them up further than this."""


@dataclass(frozen=True, slots=True)
class ChangeDot:
    """One change, the run it is of and the run's colour."""

    name: str
    colour: str
    change: Change


def paired_changes(dots: Sequence[ChangeDot]) -> go.Figure:
    """other / reference as a change in per cent, on a logarithmic axis: 1/2 and 2 are as far.

    A change that is within noise is hollow. Dots without a ratio are left out.
    """
    dots = [dot for dot in dots if dot.change.ratio]
    rows = list(dict.fromkeys(dot.change.figure.name for dot in dots))
    by_run: dict[str, list[ChangeDot]] = {}
    for dot in dots:
        by_run.setdefault(dot.name, []).append(dot)
    figure = go.Figure()
    for place, (name, own) in enumerate(by_run.items()):
        offset = (place - (len(by_run) - 1) / 2) * 0.8 / max(len(by_run), 2)
        figure.add_scatter(
            x=[dot.change.ratio for dot in own],
            y=[rows.index(dot.change.figure.name) + offset for dot in own],
            name=plain(name), mode="markers",
            marker={
                "size": 10, "color": own[0].colour, "line": {"width": 2, "color": own[0].colour},
                "symbol": ["circle" if _is_change(dot) else "circle-open" for dot in own],
            },
            error_x={**_whiskers(own), "color": own[0].colour},
            hovertext=[_hover(dot) for dot in own], hoverinfo="text",
        )  # fmt: skip
    _style(figure, dots, rows, len(by_run))
    return figure


def percent_text(ratio: float) -> str:
    """`+4.10 %`, `−20.0 %`, `0 %`."""
    if ratio == 1:
        return "0 %"
    sign = "+" if ratio > 1 else "−"
    return f"{sign}{digits(abs(ratio - 1) * 100)} %"


def _tick(ratio: float) -> str:
    percent = round((ratio - 1) * 100)
    return f"{percent:+d} %".replace("-", "−") if percent else "0 %"


def _is_change(dot: ChangeDot) -> bool:
    return dot.change.verdict in (BETTER, WORSE)


def _whiskers(dots: Sequence[ChangeDot]) -> dict[str, object]:
    ends = [(dot.change.ratio or 0.0, dot.change.low, dot.change.high) for dot in dots]
    return {
        "type": "data",
        "symmetric": False,
        "array": [None if high is None else high - ratio for ratio, _, high in ends],
        "arrayminus": [None if low is None else ratio - low for ratio, low, _ in ends],
        "thickness": 2,
        "width": 5,
    }


def _hover(dot: ChangeDot) -> str:
    change = dot.change
    text = f"{plain(dot.name)}, {change.figure.name}: {percent_text(change.ratio or 0.0)}"
    if change.low is not None and change.high is not None:
        text += f" ({percent_text(change.low)} to {percent_text(change.high)})"
    return f"{text}, {change.prompts} prompts, {change.verdict}"


def _style(figure: go.Figure, dots: Sequence[ChangeDot], rows: Sequence[str], runs: int) -> None:
    styled(figure, x_title="change against the reference, 95 % interval", y_title="")
    ends = [
        value
        for dot in dots
        for value in (dot.change.ratio, dot.change.low, dot.change.high)
        if value
    ]
    low, high = min(LEAST_RANGE[0], *ends), max(LEAST_RANGE[1], *ends)
    room = 0.06 * (log10(high) - log10(low))
    ticks = [tick for tick in TICKS if low * 0.99 <= tick <= high * 1.01]
    while len(ticks) > MOST_TICKS:
        at_one = ticks.index(1.0)
        ticks = [tick for place, tick in enumerate(ticks) if (place - at_one) % 2 == 0]
    figure.update_layout(
        height=120 + max(ROW_PX, DOT_PX * runs) * max(2, len(rows)), hovermode="closest",
        margin={"l": 8, "t": 40}, showlegend=runs > 1, legend={"y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_xaxes(
        type="log", range=[log10(low) - room, log10(high) + room], tickvals=ticks,
        ticktext=[_tick(tick) for tick in ticks], showgrid=True,
        gridcolor="rgba(128,128,128,0.2)",
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=[f"{plain(row)}  " for row in rows],
        range=[len(rows) - 0.5, -0.5], automargin=True, showgrid=False,
    )  # fmt: skip
    figure.add_vline(x=1.0, line={"color": BASELINE, "dash": "dash", "width": 1.5})
