"""What moves the saving most: a tornado, the widest bar on top."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from specviz.analysis.cost.sensitivity import SHARE, Swing
from specviz.analysis.text import digits, dollars, percent
from specviz.figures.style import plain, styled
from specviz.palette import BASELINE, BONUS, DRAFTING

ROW_PX = 44


def tornado(swings: Sequence[Swing], saving_per_month: float) -> go.Figure:
    """Bars from the saving at an input's low end to that at its high end, around the saving."""
    figure = go.Figure()
    names = [_title(swing) for swing in swings]
    for end, colour in (("low", DRAFTING), ("high", BONUS)):
        savings = [getattr(swing, f"saving_at_{end}") for swing in swings]
        inputs = [getattr(swing, f"{end}_input") for swing in swings]
        figure.add_bar(
            y=names, x=[saving - saving_per_month for saving in savings], base=saving_per_month,
            orientation="h", name=f"input at its {end} end", marker={"color": colour},
            hovertext=[
                f"{plain(swing.name)} {digits(value)}: {dollars(saving)} per month"
                for swing, value, saving in zip(swings, inputs, savings, strict=True)
            ],
            hoverinfo="text",
        )  # fmt: skip
    styled(figure, x_title="saving per month, $", y_title="")
    figure.add_vline(x=saving_per_month, line={"color": BASELINE, "width": 1.5})
    figure.update_xaxes(tickformat="$,.4~r", showgrid=True, gridcolor="rgba(128,128,128,0.2)")
    figure.update_yaxes(autorange="reversed", automargin=True, ticksuffix="  ", showgrid=False)
    figure.update_layout(
        barmode="overlay", height=110 + ROW_PX * len(swings), margin={"l": 8, "t": 40},
        hovermode="closest", legend={"y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    return figure


def _title(swing: Swing) -> str:
    """`traffic, requests/day (± 20 %)`, or with the interval that it is moved by."""
    if swing.by_interval:
        return f"{plain(swing.name)} ({digits(swing.low_input)} to {digits(swing.high_input)})"
    return f"{plain(swing.name)} (± {percent(SHARE)})"
