"""The formula drawn: tokens per step and speed-up over K, with the documents' claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from specviz.analysis.theory import theory
from specviz.figures.style import plain, styled
from specviz.palette import ACCEPTED, BASELINE, BONUS, RECOVERED, REJECTED

CLAIMED, SPEEDUP_COLOUR = REJECTED, ACCEPTED


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure of a document: tokens per step at this acceptance and K; None: not given."""

    label: str
    source: str
    alpha: float
    k: int
    tokens: float
    speedup: float | None = None


def formula_over_k(alpha: float, cost: float, most_k: int, claims: Sequence[Claim]) -> go.Figure:
    """Left, tokens per step; right, speed-up; each over K from 0 to `most_k`.

    Claims are drawn where the document puts them, with a line to what the formula gives for their
    own acceptance.
    """
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.1)
    ks = list(range(most_k + 1))
    tokens = [theory.expected_tokens(alpha, k) for k in ks]
    speedups = [theory.speedup(alpha, k, cost) for k in ks]
    figure.add_scatter(
        row=1, col=1, x=ks, y=tokens, mode="lines+markers", name=f"formula, α {alpha:.2f}",
        line={"color": BONUS, "width": 2}, marker={"size": 6},
        hovertemplate="K %{x}: %{y:.3f} tok/step<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        row=1, col=2, x=ks, y=speedups, mode="lines+markers", name=f"formula, c {cost:.2f}",
        line={"color": SPEEDUP_COLOUR, "width": 2}, marker={"size": 6},
        hovertemplate="K %{x}: %{y:.3f}×<extra></extra>",
    )  # fmt: skip
    _mark_best(figure, alpha, cost, ks)
    for claim in claims:
        _add_claim(figure, claim)
    styled(figure, x_title="K, draft tokens per step", y_title="")
    figure.update_yaxes(title="tokens per step", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title="speed-up (×)", rangemode="tozero", row=1, col=2)
    figure.add_hline(row=1, col=2, y=1.0, line={"color": BASELINE, "dash": "dash", "width": 1.5})
    figure.update_layout(hovermode="closest", height=380, margin={"t": 40})
    return figure


def _mark_best(figure: go.Figure, alpha: float, cost: float, ks: Sequence[int]) -> None:
    best = theory.best_k(alpha, cost, ks)
    figure.add_scatter(
        row=1, col=2, x=[best], y=[theory.speedup(alpha, best, cost)], mode="markers",
        name=f"best K: {best}", hoverinfo="skip",
        marker={"symbol": "diamond-open", "size": 15, "color": RECOVERED, "line": {"width": 3}},
    )  # fmt: skip


def _add_claim(figure: go.Figure, claim: Claim) -> None:
    """Tokens per step only: a speed-up depends on a cost that the document does not give."""
    formula = theory.expected_tokens(claim.alpha, claim.k)
    figure.add_scatter(
        row=1, col=1, x=[claim.k, claim.k], y=[claim.tokens, formula], mode="lines+markers",
        name="a document's figure → the formula's", legendgroup="claims",
        showlegend=not any(trace.legendgroup == "claims" for trace in figure.data),
        line={"color": CLAIMED, "width": 1.5, "dash": "dot"},
        marker={"size": [11, 8], "symbol": ["x", "circle-open"], "color": CLAIMED},
        hovertext=[
            f"{plain(claim.source)}<br>{plain(claim.label)}: {claim.tokens:g} tok/step",
            f"formula for α {claim.alpha:g}, K {claim.k}: {formula:.2f} tok/step",
        ],
        hoverinfo="text",
    )  # fmt: skip
