"""How acceptance falls along the draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from specviz.figures.style import ARM_COLOURS, styled


def acceptance_by_position(rates: Mapping[str, Sequence[float]]) -> go.Figure:
    """Unconditional acceptance (0-1) by draft position, one group of bars per arm."""
    figure = go.Figure()
    for (title, values), colour in zip(rates.items(), ARM_COLOURS, strict=False):
        figure.add_bar(
            x=[str(position) for position in range(1, len(values) + 1)],
            y=list(values),
            name=title,
            marker_color=colour,
            text=[f"{value:.2f}" for value in values],
            textposition="outside",
            hovertemplate="position %{x}: %{y:.3f}<extra>" + title + "</extra>",
        )
    figure.update_yaxes(range=[0, 1.08])
    return styled(figure, x_title="draft position", y_title="accepted / drafting steps")
