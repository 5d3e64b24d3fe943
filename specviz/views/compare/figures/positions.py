"""Acceptance by position of several runs, one over the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.analysis.compare.positions import PositionRate
from specviz.figures.style import plain, styled

SPREAD = 0.2
"""Of a position: how far apart the outer lines' points are, so that whiskers do not overlap."""


@dataclass(frozen=True, slots=True)
class PositionLine:
    """One run's rates, the shallowest position first."""

    name: str
    colour: str
    rates: tuple[PositionRate, ...]


def acceptance_by_position(lines: Sequence[PositionLine]) -> go.Figure:
    """Accepted / drafts (0-1) by draft position, with intervals where there are any."""
    figure = go.Figure()
    for place, line in enumerate(lines):
        shift = SPREAD * (place / (len(lines) - 1) - 0.5) if len(lines) > 1 else 0.0
        figure.add_scatter(
            x=[rate.position + shift for rate in line.rates],
            y=[rate.rate for rate in line.rates],
            name=plain(line.name), mode="lines+markers",
            line={"color": line.colour, "width": 2}, marker={"size": 8},
            error_y={**_whiskers(line.rates), "color": line.colour},
            hovertext=[_hover(line, rate) for rate in line.rates], hoverinfo="text",
        )  # fmt: skip
    styled(figure, x_title="draft position", y_title="accepted / drafts")
    deepest = max((rate.position for line in lines for rate in line.rates), default=1)
    figure.update_xaxes(tickvals=list(range(1, deepest + 1)), range=[0.5, deepest + 0.5])
    figure.update_yaxes(range=[0, 1.05])
    figure.update_layout(
        hovermode="closest", height=400, margin={"t": 40}, showlegend=True,
        legend={"y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    return figure


def _whiskers(rates: Sequence[PositionRate]) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [None if rate.high is None else rate.high - rate.rate for rate in rates],
        "arrayminus": [None if rate.low is None else rate.rate - rate.low for rate in rates],
        "thickness": 1.5,
        "width": 4,
    }


def _hover(line: PositionLine, rate: PositionRate) -> str:
    text = f"{plain(line.name)}, position {rate.position}: {rate.rate:.3f}"
    if rate.low is None or rate.high is None:
        return text
    return f"{text} ({rate.low:.3f} to {rate.high:.3f})"
