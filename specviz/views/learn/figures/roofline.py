"""The roofline drawn: speed-up over the batch, and below it the step time and its bound."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from specviz.analysis.theory.roofline import Roofline
from specviz.figures.style import styled
from specviz.palette import ACCEPTED, BASELINE, BONUS, DRAFTING, REJECTED

BATCHES = tuple(2 ** (step / 8) for step in range(8 * 10 + 1))
"""1 to 1,024 sequences."""

SHOWN_BATCHES = tuple(2**power for power in range(0, 11))

Point = tuple[int, float]
"""Concurrency and speed-up."""


def speedup_over_batch(
    roofline: Roofline, alpha: float, k: int, cost: float, published: Sequence[Point] = ()
) -> go.Figure:
    """Above, the speed-up; below, the time of a plain step and of a verification step.

    `published`: measured elsewhere, on other hardware and another model. Dotted lines: where the
    step stops to be bound by memory.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.55, 0.45]
    )
    batches = _batches(roofline, k)
    speedups = [roofline.speedup(alpha, k, cost, batch) for batch in batches]
    figure.add_scatter(
        row=1, col=1, x=batches, y=speedups, mode="lines", name=f"roofline, K {k}",
        line={"color": ACCEPTED, "width": 2.5},
        hovertemplate="batch %{x:.0f}: %{y:.2f}×<extra></extra>",
    )  # fmt: skip
    if published:
        figure.add_scatter(
            row=1, col=1, x=[at for at, _ in published], y=[value for _, value in published],
            mode="markers", name="published: EAGLE-3, K 5, 70B on 4 × A100",
            marker={"symbol": "circle-open", "size": 9, "color": REJECTED, "line": {"width": 2}},
            hovertemplate="published, concurrency %{x}: %{y:.2f}×<extra></extra>",
        )  # fmt: skip
    _add_steps(figure, roofline, k, batches)
    for tokens, colour in ((k + 1, DRAFTING), (1, BONUS)):
        _mark_critical(figure, roofline.critical_batch(tokens), colour)
    figure.add_hline(row=1, col=1, y=1.0, line={"color": BASELINE, "dash": "dash", "width": 1.5})
    styled(figure, x_title="", y_title="")
    figure.update_xaxes(
        type="log", tickvals=SHOWN_BATCHES, ticktext=[str(at) for at in SHOWN_BATCHES],
        range=[-0.02, 3.03],
    )  # fmt: skip
    figure.update_xaxes(title="batch: sequences decoded at once (log2)", row=2, col=1)
    figure.update_yaxes(title="speed-up (×)", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title="step time (ms, log)", type="log", row=2, col=1)
    figure.update_layout(
        height=560, hovermode="closest", margin={"t": 40, "l": 64},
        legend={"y": 1.01, "yanchor": "bottom"},
    )  # fmt: skip
    return figure


def _batches(roofline: Roofline, k: int) -> list[float]:
    """Where the curves are drawn through: evenly in the logarithm, and where they bend."""
    bends = [roofline.critical_batch(tokens) for tokens in (1, k + 1)]
    within = [one for one in bends if one is not None and BATCHES[0] < one < BATCHES[-1]]
    return sorted([*BATCHES, *within])


def _add_steps(figure: go.Figure, roofline: Roofline, k: int, batches: Sequence[float]) -> None:
    for tokens, word, colour in (
        (k + 1, f"verification of {k + 1} tokens", DRAFTING),
        (1, "plain step, 1 token", BONUS),
    ):
        times = [roofline.step_ms(batch, tokens) for batch in batches]
        figure.add_scatter(
            row=2, col=1, x=batches, y=times, mode="lines", name=word,
            line={"color": colour, "width": 2.5},
            hovertemplate=f"{word}, batch %{{x:.0f}}: %{{y:.1f}} ms<extra></extra>",
        )  # fmt: skip
    memory = [roofline.memory_ms(batch) for batch in batches]
    figure.add_scatter(
        row=2, col=1, x=batches, y=memory, mode="lines", name="memory alone",
        line={"color": BASELINE, "width": 1.5, "dash": "dash"},
        hovertemplate="memory alone, batch %{x:.0f}: %{y:.1f} ms<extra></extra>",
    )  # fmt: skip


def _mark_critical(figure: go.Figure, batch: float | None, colour: str) -> None:
    if batch is None or not BATCHES[0] <= batch <= BATCHES[-1]:
        return
    for row in (1, 2):
        figure.add_vline(
            row=row, col=1, x=batch, line={"color": colour, "dash": "dot", "width": 1.5}
        )
