"""Rejection sampling drawn: the overlap of two distributions, and each rule's output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from specviz.analysis.theory.rejection import (
    Probs,
    Rule,
    Simulation,
    acceptance,
    accepted_part,
    residual,
)
from specviz.figures.style import plain, styled
from specviz.palette import ACCEPTED, BASELINE, RECOVERED, REJECTED

RULE_COLOURS = {
    Rule.EXACT: ACCEPTED,
    Rule.ALWAYS_ACCEPT: REJECTED,
    Rule.TARGET_RESAMPLE: RECOVERED,
}
RULE_MARKS = {
    Rule.EXACT: "circle",
    Rule.ALWAYS_ACCEPT: "x",
    Rule.TARGET_RESAMPLE: "diamond",
}
TARGET, DRAFT = "target", "draft"


def shared_area(tokens: Sequence[str], target_probs: Probs, draft_probs: Probs) -> go.Figure:
    """Left, a bar of the draft and one of the target per token, their overlap in green; right,
    the distribution that a rejected token is replaced from."""
    figure = make_subplots(
        rows=1, cols=2, column_widths=[0.64, 0.36], horizontal_spacing=0.09,
        subplot_titles=["left bar: draft, right bar: target", "drawn after a rejection"],
    )  # fmt: skip
    shared = accepted_part(target_probs, draft_probs)
    names = [plain(token) for token in tokens]
    for group, probs in ((DRAFT, draft_probs), (TARGET, target_probs)):
        _add_bar(figure, names, shared, [0.0] * len(names), group, "accepted", ACCEPTED)
        word, colour = (
            ("rejected draft", REJECTED) if group == DRAFT else ("drawn instead", RECOVERED)
        )
        _add_bar(figure, names, probs - shared, shared, group, word, colour)
    left = residual(target_probs, draft_probs)
    figure.add_bar(
        row=1, col=2, x=names, y=[0.0] * len(names) if left is None else left,
        marker={"color": RECOVERED, "line": {"width": 0}}, showlegend=False, width=0.5,
        hovertemplate="%{x}: %{y:.3f}<extra>residual</extra>",
    )  # fmt: skip
    if left is None:
        figure.add_annotation(
            row=1, col=2, x=names[len(names) // 2], y=0.5, showarrow=False,
            text="nothing is ever rejected",
        )  # fmt: skip
    styled(figure, x_title="", y_title="")
    figure.update_yaxes(title="probability", row=1, col=1, rangemode="tozero")
    figure.update_yaxes(row=1, col=2, range=[0, 1.02])
    figure.update_layout(
        barmode="group", bargap=0.28, bargroupgap=0.06, hovermode="closest",
        margin={"t": 60, "b": 28}, legend={"y": 1.2}, height=390,
    )  # fmt: skip
    return figure


def rates(target_probs: Probs, draft_probs: Probs) -> str:
    """What the figure shows, in a sentence."""
    accepted = acceptance(target_probs, draft_probs)
    return f"accepted {accepted:.3f} of all draft tokens, {1 - accepted:.3f} drawn again"


def outputs(
    tokens: Sequence[str], target_probs: Probs, simulations: Mapping[Rule, Simulation]
) -> go.Figure:
    """What came out per token and rule with 95 % intervals, over the target as grey bars."""
    figure = go.Figure()
    names = [plain(token) for token in tokens]
    places = list(range(len(names)))
    figure.add_bar(
        x=places, y=target_probs, name="target, exact", width=0.86, opacity=0.45,
        marker={"color": BASELINE, "line": {"width": 0}},
        hovertemplate="target %{y:.4f}<extra></extra>",
    )  # fmt: skip
    for shift, (rule, simulation) in zip((-0.25, 0.0, 0.25), simulations.items(), strict=True):
        lower, upper = simulation.intervals()
        shares, colour = simulation.shares, RULE_COLOURS[rule]
        figure.add_scatter(
            x=[place + shift for place in places], y=shares, name=rule.value, mode="markers",
            marker={"size": 9, "color": colour, "symbol": RULE_MARKS[rule]},
            error_y={
                "type": "data", "symmetric": False, "array": upper - shares,
                "arrayminus": shares - lower, "thickness": 2, "width": 6, "color": colour,
            },
            hovertext=[
                f"{rule.value}, {name}: {share:.4f} ({low:.4f} to {high:.4f})"
                for name, share, low, high in zip(names, shares, lower, upper, strict=True)
            ],
            hoverinfo="text",
        )  # fmt: skip
    styled(figure, x_title="", y_title="share of the output")
    figure.update_xaxes(tickvals=places, ticktext=names)
    figure.update_yaxes(rangemode="tozero")
    figure.update_layout(hovermode="closest", margin={"t": 40, "b": 28}, height=320)
    return figure


def _add_bar(
    figure: go.Figure,
    names: Sequence[str],
    heights: Probs,
    base: Sequence[float] | Probs,
    group: str,
    word: str,
    colour: str,
) -> None:
    figure.add_bar(
        row=1, col=1, x=names, y=heights, base=base, offsetgroup=group, name=word,
        legendgroup=word, showlegend=not (word == "accepted" and group == TARGET),
        marker={"color": colour, "line": {"width": 0}},
        customdata=heights,
        hovertemplate=f"{group}, {word} %{{x}}: %{{customdata:.3f}}<extra></extra>",
    )  # fmt: skip
