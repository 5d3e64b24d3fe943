"""One look for all charts: the strip's colours, quiet grid, no border."""

from __future__ import annotations

import plotly.graph_objects as go

ACCEPTED = "#009E73"
RECOVERED = "#D55E00"
BONUS = "#0072B2"
REJECTED = "#CC79A7"
BASELINE = "#8a8f98"

ARM_COLOURS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7")
"""Okabe and Ito's colours, distinguishable with any colour vision (jfly.uni-koeln.de/color)."""


def styled(figure: go.Figure, *, x_title: str, y_title: str) -> go.Figure:
    """Apply the style; titles name the quantity and its unit."""
    figure.update_layout(
        margin={"l": 56, "r": 16, "t": 24, "b": 48},
        height=340,
        font={"size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "y": 1.12, "x": 0},
        bargap=0.3,
    )
    figure.update_xaxes(title=x_title, showgrid=False, zeroline=False)
    figure.update_yaxes(title=y_title, gridcolor="rgba(128,128,128,0.2)", zeroline=False)
    return figure
