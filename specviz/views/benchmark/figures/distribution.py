"""How a time per token is spread over requests, one box per arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from specviz.figures.style import plain, styled

ROW_PX = 30
WORDS = "Box: P25 to P75, its line P50; whiskers: P5 to P95; diamond: mean."


@dataclass(frozen=True, slots=True)
class Spread:
    """Linearly interpolated quantiles and mean of one arm's requests, in ms per token."""

    arm: str
    colour: str
    count: int
    p5: float
    p25: float
    p50: float
    p75: float
    p95: float
    mean: float


def spread(arm: str, colour: str, values: Sequence[float]) -> Spread:
    """The spread of at least one value."""
    p5, p25, p50, p75, p95 = (float(q) for q in np.percentile(values, [5, 25, 50, 75, 95]))
    return Spread(arm, colour, len(values), p5, p25, p50, p75, p95, float(np.mean(values)))


def tpot_distribution(spreads: Sequence[Spread]) -> go.Figure:
    """One horizontal box per arm, in the order given, from the top."""
    figure = go.Figure()
    for one in spreads:
        label = plain(one.arm)
        figure.add_box(
            y=[label], orientation="h", name=label, q1=[one.p25], median=[one.p50],
            q3=[one.p75], lowerfence=[one.p5], upperfence=[one.p95],
            line={"color": one.colour, "width": 2}, width=0.6, hoverinfo="skip",
        )  # fmt: skip
        figure.add_scatter(
            y=[label], x=[one.mean], mode="markers", name=label,
            marker={"symbol": "diamond", "size": 8, "color": one.colour},
            hovertemplate=(
                f"{label}: P50 {one.p50:.3g} ms, P95 {one.p95:.3g} ms, mean {one.mean:.3g} ms, "
                f"{one.count} requests<extra></extra>"
            ),
        )  # fmt: skip
    styled(figure, x_title="TPOT, ms per output token", y_title="")
    figure.update_layout(
        height=90 + ROW_PX * max(2, len(spreads)), showlegend=False, margin={"l": 8, "t": 8},
    )  # fmt: skip
    figure.update_xaxes(rangemode="tozero", showgrid=True, gridcolor="rgba(128,128,128,0.2)")
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=False, ticksuffix="  ")
    return figure
