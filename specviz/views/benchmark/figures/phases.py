"""A figure by phase of the load, one line per arm with its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.analysis.benchmark.phases.figures import Estimate
from specviz.figures.arms import LineEnd, add_line_ends, widened
from specviz.figures.style import plain, styled

APART = 0.09
"""Of a phase's width: arms are drawn next to each other, so that their intervals do not overlap."""


@dataclass(frozen=True, slots=True)
class PhaseLine:
    """One arm: its estimates by the title of the phase, in order."""

    arm: str
    colour: str
    is_baseline: bool
    points: Mapping[str, Estimate]


def by_phase(lines: Sequence[PhaseLine], y_title: str) -> go.Figure:
    """Lines over the phases, baselines dashed; bars are 95 % intervals."""
    figure = go.Figure()
    phases = list(dict.fromkeys(title for line in lines for title in line.points))
    for number, line in enumerate(lines):
        shift = (number - (len(lines) - 1) / 2) * APART
        points = list(line.points.values())
        figure.add_scatter(
            x=[phases.index(title) + shift for title in line.points],
            y=[point.value for point in points], name=plain(line.arm), mode="lines+markers",
            marker={"size": 7, "color": line.colour},
            line={"color": line.colour, "width": 2, "dash": "dash" if line.is_baseline else None},
            error_y={
                "array": [_high(point) - point.value for point in points],
                "arrayminus": [point.value - _low(point) for point in points],
                "thickness": 1, "width": 3,
            },
            hovertext=[f"{plain(line.arm)}, {plain(title)}: {point.text}"
                       for title, point in line.points.items()],
            hoverinfo="text",
        )  # fmt: skip
    styled(figure, x_title="phase of the load", y_title=y_title)
    figure.update_xaxes(tickvals=list(range(len(phases))), ticktext=[plain(one) for one in phases])
    figure.update_layout(height=380, hovermode="closest", margin={"t": 12})
    last = [list(line.points.values())[-1].value for line in lines]
    ends = [LineEnd(line.arm, y, line.colour) for line, y in zip(lines, last, strict=True)]
    values = [_high(point) for line in lines for point in line.points.values()]
    add_line_ends(figure, ends, widened(values))
    return figure


def _low(point: Estimate) -> float:
    return point.ends[0] if point.ends else point.value


def _high(point: Estimate) -> float:
    return point.ends[1] if point.ends else point.value
