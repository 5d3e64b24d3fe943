"""Throughput against concurrency, and where speculation stops to pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from specviz.analysis.benchmark.crossover import Crossover
from specviz.figures.arms import LineEnd, add_line_ends, widened
from specviz.figures.style import plain, styled


@dataclass(frozen=True, slots=True)
class LoadLine:
    """One arm: output tokens per second by concurrency, and where it meets its baseline."""

    arm: str
    colour: str
    is_baseline: bool
    output_throughput: Mapping[int, float] = field(default_factory=dict)
    crossover: Crossover | None = None


def throughput_by_concurrency(lines: Sequence[LoadLine]) -> go.Figure:
    """One line per arm, baselines dashed; open diamonds mark where a line meets its baseline."""
    figure = go.Figure()
    for line in lines:
        at = sorted(line.output_throughput)
        figure.add_scatter(
            x=at, y=[line.output_throughput[one] for one in at], name=plain(line.arm),
            mode="lines+markers", marker={"size": 7, "color": line.colour},
            line={"color": line.colour, "width": 2, "dash": "dash" if line.is_baseline else None},
            hovertemplate=f"{plain(line.arm)}, concurrency %{{x}}: %{{y:,.4~g}} tok/s"
            "<extra></extra>",
        )  # fmt: skip
    for line in lines:
        _mark_crossings(figure, line)
    styled(figure, x_title="concurrency (log2)", y_title="throughput, output tok/s")
    measured = sorted({at for line in lines for at in line.output_throughput})
    figure.update_xaxes(type="log", tickvals=measured, ticktext=[str(at) for at in measured])
    figure.update_layout(height=380, hovermode="closest", margin={"t": 12})
    ends = [LineEnd(line.arm, line.output_throughput[max(line.output_throughput)], line.colour)
            for line in lines if line.output_throughput]  # fmt: skip
    values = [value for line in lines for value in line.output_throughput.values()]
    add_line_ends(figure, ends, widened(values))
    return figure


def _mark_crossings(figure: go.Figure, line: LoadLine) -> None:
    if line.crossover is None or not line.crossover.crossings:
        return
    points = line.crossover.crossings
    figure.add_scatter(
        x=[point.concurrency for point in points], y=[point.output_throughput for point in points],
        mode="markers", name=f"{plain(line.arm)} meets its baseline",
        marker={"symbol": "diamond-open", "size": 14, "color": line.colour, "line": {"width": 3}},
        hovertext=f"{plain(line.arm)} {plain(line.crossover.text)}", hoverinfo="text",
    )  # fmt: skip
