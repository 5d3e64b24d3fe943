"""Speed-up against the baseline: dots with 95 % intervals, and a line where nothing is won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from specviz.analysis.benchmark.results import Speedup
from specviz.figures.style import plain, styled
from specviz.palette import BASELINE

ROW_PX = 28
DOT_PX = 17
X_TITLE = "speed-up over the baseline (×), 95 % interval"


@dataclass(frozen=True, slots=True)
class Dot:
    """One measured speed-up: its row, its arm, the arm's colour."""

    row: str
    arm: str
    colour: str
    speedup: Speedup


def speedup_by_arm(dots: Sequence[Dot]) -> go.Figure:
    """One row per arm, in the order given, from the top."""
    figure = go.Figure()
    for dot in dots:
        figure.add_scatter(y=[plain(dot.arm)], **_marks([dot]))
    _style(figure, height=100 + ROW_PX * max(2, len(dots)))
    figure.update_layout(showlegend=False)
    figure.update_yaxes(autorange="reversed", automargin=True, ticksuffix="  ")
    return figure


def speedup_by_category(dots: Sequence[Dot]) -> go.Figure:
    """One band per category, in it one dot per arm, in the order of the legend."""
    rows = list(dict.fromkeys(dot.row for dot in dots))
    by_arm: dict[str, list[Dot]] = {}
    for dot in dots:
        by_arm.setdefault(dot.arm, []).append(dot)
    figure = go.Figure()
    for place, (arm, own) in enumerate(by_arm.items()):
        offset = (place - (len(by_arm) - 1) / 2) * 0.8 / max(len(by_arm), 2)
        figure.add_scatter(
            y=[rows.index(dot.row) + offset for dot in own],
            name=plain(arm),
            **_marks(own),
        )
    band = max(ROW_PX, DOT_PX * len(by_arm))
    _style(figure, height=120 + band * max(2, len(rows)))
    figure.update_layout(legend={"y": 1.02, "yanchor": "bottom"}, margin={"t": 40})
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=[f"{plain(row)}  " for row in rows],
        range=[len(rows) - 0.5, -0.5], automargin=True,
    )  # fmt: skip
    return figure


def interval(speedups: Sequence[Speedup]) -> Mapping[str, Any]:
    """Whiskers from `low` to `high`, none where there is no interval."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [None if s.high is None else s.high - s.ratio for s in speedups],
        "arrayminus": [None if s.low is None else s.ratio - s.low for s in speedups],
        "thickness": 2,
        "width": 5,
    }


def hover_text(speedup: Speedup) -> str:
    """`1.67× (1.48 to 1.84), 30 prompts, by time`."""
    return f"{speedup.text}, {speedup.verdict_text}, {speedup.prompts} prompts, by {speedup.basis}"


def _marks(dots: Sequence[Dot]) -> dict[str, Any]:
    colour = dots[0].colour
    return {
        "x": [dot.speedup.ratio for dot in dots],
        "mode": "markers",
        "marker": {"size": 10, "color": colour},
        "error_x": {**interval([dot.speedup for dot in dots]), "color": colour},
        "hovertext": [
            f"{plain(dot.row)}, {plain(dot.arm)}: {hover_text(dot.speedup)}"
            if dot.row != dot.arm
            else f"{plain(dot.arm)}: {hover_text(dot.speedup)}"
            for dot in dots
        ],
        "hoverinfo": "text",
    }


def _style(figure: go.Figure, *, height: int) -> None:
    styled(figure, x_title=X_TITLE, y_title="")
    figure.update_layout(height=height, margin={"l": 8, "t": 24}, hovermode="closest")
    figure.add_vline(
        x=1.0, line={"color": BASELINE, "dash": "dash", "width": 1.5},
        annotation={"text": "baseline", "yanchor": "bottom", "y": 1, "yref": "paper"},
    )  # fmt: skip
    figure.update_xaxes(rangemode="tozero", showgrid=True, gridcolor="rgba(128,128,128,0.2)")
    figure.update_yaxes(showgrid=False)
