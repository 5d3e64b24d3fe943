"""The recommended arm at every load it was measured at: speed-up and 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from specviz.analysis.advisor.measured import Option
from specviz.analysis.text import counted
from specviz.figures.style import plain, styled
from specviz.palette import BASELINE, GREEN, GREY, ORANGE

COLOURS = {True: GREEN, False: ORANGE, None: GREY}
"""By whether it gains."""

ROW_PX, MARGIN_PX = 34, 70


def at_every_load(options: Sequence[Option], chosen: Option) -> list[Option]:
    """The same arm over all texts, wherever it was measured."""
    found = [one for one in options if one.arm == chosen.arm and one.category is None]
    return sorted(found, key=lambda one: (one.temperature, one.concurrency))


def gains(options: Sequence[Option]) -> go.Figure:
    """One line per place, the first on top; the dashed line is plain decoding."""
    figure = go.Figure()
    several = len({one.temperature for one in options}) > 1
    names = [plain(_name(one, several)) for one in options]
    for name, one in zip(names, options, strict=True):
        colour, speedup = COLOURS[one.gains], one.speedup
        if speedup.low is not None:
            figure.add_scatter(
                x=[speedup.low, speedup.high], y=[name, name], mode="lines",
                line={"color": colour, "width": 3}, showlegend=False, hoverinfo="skip",
            )  # fmt: skip
        figure.add_scatter(
            x=[speedup.ratio], y=[name], mode="markers",
            marker={"color": colour, "size": 10}, showlegend=False,
            hovertext=f"{name}: {speedup.with_verdict}", hoverinfo="text",
        )  # fmt: skip
    styled(figure, x_title="speed-up, × (95 %)", y_title="")
    figure.add_vline(x=1.0, line={"color": BASELINE, "dash": "dash", "width": 1.5})
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(
        height=MARGIN_PX + ROW_PX * len(options), margin={"t": 8, "b": 44, "l": 8, "r": 8}
    )
    return figure


def _name(one: Option, with_temperature: bool) -> str:
    requests = f"{counted(one.concurrency, 'request')} at once"
    verdict = "" if one.gains is not None else ": undecided"
    return f"{requests}{f', {one.temperature:g}' if with_temperature else ''}{verdict}"
