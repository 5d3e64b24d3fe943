"""Which sublayers drafting skipped, step by step, over the outcome of each step's draft."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from specviz.analysis.skipped import SkippedLayers
from specviz.figures.style import plain, styled
from specviz.palette import ACCEPTED, DRAFTING, REJECTED
from specviz.trace import Step

ROW_PX = 15
BARS_PX = 130
GAP_PX = 34


def skipped_layers_figure(grid: SkippedLayers) -> go.Figure:
    """A heat map (sublayers x steps), and accepted and other drafted tokens per step under it."""
    heat_px = max(90, ROW_PX * len(grid.sublayers))
    total_px = heat_px + GAP_PX + BARS_PX
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=GAP_PX / total_px,
        row_heights=[heat_px, BARS_PX],
    )  # fmt: skip
    numbers = [step.index + 1 for step in grid.steps]
    figure.add_heatmap(
        row=1, col=1, x=numbers, y=[plain(name) for name in grid.sublayers],
        z=[[int(skipped) for skipped in line] for line in grid.skipped],
        zmin=0, zmax=1, showscale=False, xgap=1, ygap=1,
        colorscale=[[0, "rgba(128,128,128,0.13)"], [1, DRAFTING]],
        text=[["skipped" if skipped else "computed" for skipped in line] for line in grid.skipped],
        hovertemplate="step %{x}, %{y}: %{text}<extra></extra>",
    )  # fmt: skip
    _add_drafts(figure, numbers, grid.steps)
    styled(figure, x_title="", y_title="")
    figure.update_layout(
        height=total_px + 84, barmode="stack", bargap=0.15, margin={"l": 96, "t": 8, "b": 44},
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": BARS_PX / total_px,
                "yanchor": "bottom", "traceorder": "normal"},
    )  # fmt: skip
    figure.update_yaxes(row=1, autorange="reversed", showgrid=False, dtick=1)
    figure.update_yaxes(row=2, title="drafted tokens", rangemode="tozero")
    figure.update_xaxes(row=1, ticks="")
    figure.update_xaxes(row=2, title="step")
    return figure


def _add_drafts(figure: go.Figure, numbers: list[int], steps: tuple[Step, ...]) -> None:
    accepted = [step.num_accepted for step in steps]
    others = [len(step.drafted) - step.num_accepted for step in steps]
    for name, values, colour in (
        ("accepted", accepted, ACCEPTED),
        ("rejected or unverified", others, REJECTED),
    ):
        figure.add_bar(
            row=2, col=1, x=numbers, y=values, name=name, marker_color=colour,
            hovertemplate="step %{x}: %{y} " + name + "<extra></extra>",
        )  # fmt: skip
