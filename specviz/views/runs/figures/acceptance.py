"""How acceptance falls along the draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from specviz.analysis.depths import DepthAcceptance
from specviz.figures.style import plain, styled
from specviz.palette import ARM_COLOURS

Depths = Mapping[str, Sequence[DepthAcceptance]]
"""Acceptance by depth of each arm, by its name."""


def unconditional_acceptance(arms: Depths, *, depth_word: str = "draft position") -> go.Figure:
    """Accepted / drafting steps (0-1) by depth, one group of bars per arm."""
    rates = {
        title: [(entry.unconditional, f"{entry.accepted} of {entry.drafting}") for entry in depths]
        for title, depths in arms.items()
    }
    return _bars(rates, x_title=depth_word, y_title="accepted / drafting steps")


def conditional_acceptance(arms: Depths, *, depth_word: str = "draft position") -> go.Figure:
    """Accepted / steps that reached the depth (0-1), one group of bars per arm."""
    rates = {
        title: [(entry.conditional, f"{entry.accepted} of {entry.reached}") for entry in depths]
        for title, depths in arms.items()
    }
    return _bars(rates, x_title=depth_word, y_title="accepted / steps that reached it")


def _bars(
    rates: Mapping[str, Sequence[tuple[float | None, str]]], *, x_title: str, y_title: str
) -> go.Figure:
    figure = go.Figure()
    for (title, entries), colour in zip(rates.items(), ARM_COLOURS, strict=False):
        figure.add_bar(
            x=[str(depth) for depth in range(1, len(entries) + 1)],
            y=[rate for rate, _ in entries],
            name=plain(title),
            marker_color=colour,
            text=["" if rate is None else f"{rate:.2f}" for rate, _ in entries],
            textposition="outside",
            customdata=[counts for _, counts in entries],
            hovertemplate=f"{x_title} %{{x}}: %{{y:.3f}}, %{{customdata}} steps<extra></extra>",
        )
    styled(figure, x_title=x_title, y_title=y_title)
    figure.update_yaxes(range=[0, 1.08])
    return figure
