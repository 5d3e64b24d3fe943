"""Cost by concurrency: up to where speculation saves, and where it begins to cost money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.analysis.benchmark.crossover import Crossover
from specviz.analysis.cost.load import cost_curve
from specviz.analysis.cost.request import cost_per_million_tokens
from specviz.figures.style import plain, styled

BREAK_EVEN = "break-even"


@dataclass(frozen=True, slots=True)
class CostLine:
    """One way to serve: output tokens per second by concurrency; the baseline is dashed."""

    name: str
    colour: str
    output_throughput: Mapping[int, float]
    is_baseline: bool = False
    crossover: Crossover | None = None


def cost_by_concurrency(lines: Sequence[CostLine], usd_per_hour: float) -> go.Figure:
    """$ per million output tokens over concurrency (log2); diamonds where a line meets its
    baseline."""
    figure = go.Figure()
    for line in lines:
        _add_line(figure, line, usd_per_hour)
    for line in lines:
        _add_crossings(figure, line, usd_per_hour)
    styled(figure, x_title="concurrency (log2)", y_title="$ per million output tokens (log)")
    known = sorted({at for line in lines for at in line.output_throughput})
    figure.update_xaxes(type="log", tickvals=known, ticktext=[str(at) for at in known])
    figure.update_yaxes(type="log", dtick="D2", tickformat="$,.4~r")
    figure.update_layout(hovermode="closest", margin={"t": 40, "l": 72})
    return figure


def _add_line(figure: go.Figure, line: CostLine, usd_per_hour: float) -> None:
    curve = cost_curve(usd_per_hour, line.output_throughput)
    dash = "dash" if line.is_baseline else None
    figure.add_scatter(
        x=[at for at, _ in curve], y=[cost for _, cost in curve], mode="lines",
        line={"color": line.colour, "width": 2, "dash": dash},
        name=plain(line.name), legendgroup=line.name, hoverinfo="skip",
    )  # fmt: skip
    at = sorted(line.output_throughput)
    figure.add_scatter(
        x=at, y=[cost_per_million_tokens(usd_per_hour, line.output_throughput[one]) for one in at],
        mode="markers", marker={"size": 8, "color": line.colour},
        legendgroup=line.name, showlegend=False,
        hovertemplate=f"{plain(line.name)}, concurrency %{{x}}: $%{{y:.3~g}} per million tokens"
        "<extra></extra>",
    )  # fmt: skip


def _add_crossings(figure: go.Figure, line: CostLine, usd_per_hour: float) -> None:
    if line.crossover is None or not line.crossover.crossings:
        return
    points = line.crossover.crossings
    figure.add_scatter(
        x=[point.concurrency for point in points],
        y=[cost_per_million_tokens(usd_per_hour, point.output_throughput) for point in points],
        mode="markers", name=BREAK_EVEN, legendgroup=BREAK_EVEN,
        showlegend=not any(trace.name == BREAK_EVEN for trace in figure.data),
        marker={"symbol": "diamond-open", "size": 14, "color": line.colour, "line": {"width": 3}},
        hovertemplate=f"{plain(line.name)}: break-even at concurrency ~%{{x:.2~g}}"
        "<extra></extra>",
    )  # fmt: skip
