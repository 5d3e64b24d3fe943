"""Where the time of a step goes: one stacked bar per arm."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from specviz.analysis.step_time.bar import BESIDE, COLOURS, PLAIN, WHOLE, StepBar
from specviz.analysis.text import digits
from specviz.figures.style import Ground, plain, styled
from specviz.palette import BASELINE

ROW_PX = 38
LEAST_TEXT_PX = 11
ON_COLOUR = "#121519"
"""Words on the bars: the three colours are light enough for dark ones on either ground."""


def step_time_bars(bars: Sequence[StepBar], ground: Ground) -> go.Figure:
    """Mean ms per step, in the order given, from the top.

    A diamond marks how long plain decoding takes for the tokens of such a step: a bar that ends
    before it is faster.
    """
    figure = go.Figure()
    names = [plain(bar.name) for bar in bars]
    for part, colour in COLOURS.items():
        values = [bar.parts.get(part) for bar in bars]
        if any(values):
            figure.add_bar(**_segments(part, colour, names, values, ground))
    if marks := [(name, bar) for name, bar in zip(names, bars, strict=True) if bar.plain_ms]:
        figure.add_scatter(**_diamonds(marks, ground))
    styled(figure, x_title="mean time per step, ms", y_title="")
    figure.update_layout(
        barmode="stack", bargap=0.35, height=120 + ROW_PX * max(2, len(bars)),
        margin={"l": 8, "t": 40}, legend={"y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        uniformtext={"mode": "hide", "minsize": LEAST_TEXT_PX}, hovermode="closest",
    )  # fmt: skip
    figure.update_xaxes(rangemode="tozero", showgrid=True, gridcolor="rgba(128,128,128,0.2)")
    figure.update_yaxes(
        autorange="reversed", automargin=True, showgrid=False, ticksuffix="  ", fixedrange=True
    )
    return figure


def _segments(
    part: str, colour: str, names: list[str], values: list[float | None], ground: Ground
) -> dict[str, object]:
    marker: dict[str, object] = {
        "color": colour,
        "line": {"color": ground.background, "width": 1},
    }
    if part in (BESIDE, WHOLE):
        background = colour if part == BESIDE else ground.background
        marker["pattern"] = {"shape": "/", "fgcolor": BASELINE, "bgcolor": background}
    return {
        "y": names,
        "x": values,
        "orientation": "h",
        "name": part,
        "marker": marker,
        "text": [digits(value) if value else "" for value in values],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"color": ground.ink if part == WHOLE else ON_COLOUR, "size": 12},
        "hovertemplate": f"%{{y}}: {part} %{{x:.3g}} ms a step<extra></extra>",
    }


def _diamonds(marks: Sequence[tuple[str, StepBar]], ground: Ground) -> dict[str, object]:
    return {
        "y": [name for name, _ in marks],
        "x": [bar.plain_step_ms for _, bar in marks],
        "mode": "markers",
        "name": PLAIN,
        "marker": {
            "symbol": "diamond",
            "size": 12,
            "color": ground.background,
            "line": {"width": 2, "color": ground.ink},
        },
        "hovertemplate": f"%{{y}}: {PLAIN} %{{x:.3g}} ms<extra></extra>",
    }
