"""The effect of K: speed-up over K, and below it tokens per step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from specviz.analysis.benchmark.results import Speedup
from specviz.figures.style import plain, styled
from specviz.palette import BASELINE
from specviz.views.benchmark.figures.speedup import hover_text, interval

HEIGHT_PX = 540


@dataclass(frozen=True, slots=True)
class KPoint:
    """One K of a family. `length`: mean acceptance length, tokens per step with the bonus."""

    k: int
    speedup: Speedup | None
    length: float | None


@dataclass(frozen=True, slots=True)
class KLine:
    """Arms that differ in K only, by K."""

    family: str
    colour: str
    points: tuple[KPoint, ...]


def k_curves(lines: Sequence[KLine]) -> go.Figure:
    """Speed-up with intervals above, mean acceptance length below, over the same K."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07)
    for line in lines:
        _add_speedups(figure, line)
        _add_lengths(figure, line)
    styled(figure, x_title="", y_title="")
    figure.add_hline(row=1, col=1, y=1.0, line={"color": BASELINE, "dash": "dash", "width": 1.5})
    figure.update_yaxes(row=1, title="speed-up (×), 95 % interval", rangemode="tozero")
    figure.update_yaxes(row=2, title="mean acceptance length,<br>tok/step", rangemode="tozero")
    measured = sorted({point.k for line in lines for point in line.points})
    figure.update_xaxes(tickvals=measured)
    figure.update_xaxes(row=2, title="K, draft tokens per step")
    figure.update_layout(
        height=HEIGHT_PX, hovermode="closest", margin={"t": 40, "l": 72},
        legend={"y": 1.01, "yanchor": "bottom"},
    )  # fmt: skip
    return figure


def _add_speedups(figure: go.Figure, line: KLine) -> None:
    points = [(point.k, point.speedup) for point in line.points if point.speedup is not None]
    speedups = [speedup for _, speedup in points]
    figure.add_scatter(
        row=1, col=1, x=[k for k, _ in points], y=[speedup.ratio for speedup in speedups],
        name=plain(line.family), legendgroup=line.family, mode="lines+markers",
        line={"color": line.colour, "width": 2}, marker={"size": 8},
        error_y={**interval(speedups), "color": line.colour},
        hovertext=[f"{plain(line.family)}, K {k}: {hover_text(speedup)}" for k, speedup in points],
        hoverinfo="text",
    )  # fmt: skip


def _add_lengths(figure: go.Figure, line: KLine) -> None:
    points = [(point.k, point.length) for point in line.points if point.length is not None]
    figure.add_scatter(
        row=2, col=1, x=[k for k, _ in points], y=[length for _, length in points],
        name=plain(line.family), legendgroup=line.family, showlegend=False,
        mode="lines+markers", line={"color": line.colour, "width": 2}, marker={"size": 8},
        hovertemplate=f"{plain(line.family)}, K %{{x}}: %{{y:.2f}} tok/step<extra></extra>",
    )  # fmt: skip
