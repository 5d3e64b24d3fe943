"""Acceptance over temperature, with the temperature from which the documents switch off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.figures.arms import LineEnd, add_line_ends
from specviz.figures.style import plain, styled
from specviz.palette import BASELINE

PUBLISHED_LIMIT = 1.0
"""TEMP_THRESHOLD of the documents: no speculation above this temperature."""


@dataclass(frozen=True, slots=True)
class TemperatureLine:
    """One arm: acceptance rate (0-1) by temperature."""

    arm: str
    colour: str
    draft_acceptance_rate: Mapping[float, float]


def acceptance_by_temperature(lines: Sequence[TemperatureLine]) -> go.Figure:
    """One line per arm and the documents' threshold, which is labelled as theirs."""
    figure = go.Figure()
    for line in lines:
        at = sorted(line.draft_acceptance_rate)
        figure.add_scatter(
            x=at, y=[line.draft_acceptance_rate[one] for one in at], name=plain(line.arm),
            mode="lines+markers", line={"color": line.colour, "width": 2}, marker={"size": 7},
            hovertemplate=f"{plain(line.arm)}, temperature %{{x}}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    figure.add_vline(
        x=PUBLISHED_LIMIT, line={"color": BASELINE, "dash": "dash", "width": 1.5},
        annotation={
            "text": "published: off above 1.0", "y": 0.99, "yref": "paper", "yanchor": "top",
            "xanchor": "left", "x": PUBLISHED_LIMIT, "xshift": 4,
        },
    )  # fmt: skip
    styled(figure, x_title="temperature", y_title="acceptance rate, accepted / drafted")
    measured = sorted({at for line in lines for at in line.draft_acceptance_rate})
    figure.update_xaxes(tickvals=measured, ticktext=[f"{at:g}" for at in measured])
    figure.update_layout(height=380, hovermode="closest", margin={"t": 12})
    ends = [
        LineEnd(line.arm, line.draft_acceptance_rate[max(line.draft_acceptance_rate)], line.colour)
        for line in lines
        if line.draft_acceptance_rate
    ]
    add_line_ends(figure, ends, (0.0, 1.02))
    return figure
