"""Training paid back over time: cumulative saving, with a step down at every retraining."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.analysis.cost.answer import Question, answer
from specviz.analysis.cost.course import course
from specviz.figures.style import styled
from specviz.palette import ACCEPTED, BASELINE, BONUS

HEIGHT_PX = 340


def payback_over_time(question: Question, days: float) -> go.Figure:
    """Cumulative dollars of `days`, baseline against speculation with its trainings."""
    found = answer(question)
    points = course(question, days)
    at = [point.day for point in points]
    figure = go.Figure()
    figure.add_scatter(
        x=at, y=[point.baseline_usd for point in points], name="baseline",
        mode="lines", line={"color": BASELINE, "width": 2, "dash": "dash"},
        hovertemplate="day %{x:.3~g}: $%{y:,.4~g} without speculation<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=at, y=[point.method_usd for point in points],
        name="with speculation, training included",
        mode="lines", line={"color": BONUS, "width": 2.5},
        hovertemplate="day %{x:.3~g}: $%{y:,.4~g} with speculation<extra></extra>",
    )  # fmt: skip
    if found.payback.days and found.payback.days <= days:
        paid = question.requests_per_day * found.payback.days * found.baseline_per_request
        figure.add_scatter(
            x=[found.payback.days], y=[paid], name="paid back", mode="markers",
            marker={"symbol": "diamond-open", "size": 14, "color": ACCEPTED, "line": {"width": 3}},
            hovertemplate="paid back after %{x:.3~g} days<extra></extra>",
        )  # fmt: skip
    styled(figure, x_title="days", y_title="paid so far, $")
    figure.update_yaxes(tickformat="$,.4~r", rangemode="tozero")
    figure.update_xaxes(rangemode="tozero")
    figure.update_layout(height=HEIGHT_PX, hovermode="closest", margin={"t": 40, "l": 72})
    return figure
