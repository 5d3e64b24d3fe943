"""When drafting and verification worked, lane by lane, one group of lanes per arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from specviz.analysis.overlap import both_at_work, spans_of
from specviz.figures.style import plain, styled
from specviz.palette import ACCEPTED, BASELINE, DRAFTING
from specviz.trace import Lane, Step

LANES = ("draft", "verify", "both at once")
LANE_PX = 26
GAP_ROWS = 1.1  # between arms, with the room for the next one's name
COLOURS = {Lane.DRAFT: DRAFTING, Lane.VERIFY: BASELINE}

Bar = tuple[int | None, float, float]
"""Index of the step (None: no single one), begin and end in ms."""


def timeline(arms: Mapping[str, Sequence[Step]]) -> go.Figure:
    """The lanes of every arm's steps; each arm's first step begins at 0 ms.

    Steps are shaded in turn, so that neighbours can be distinguished.
    """
    figure = go.Figure()
    ticks: list[tuple[float, str]] = []
    top = 0.0
    for title, steps in arms.items():
        figure.add_annotation(
            text=f"<b>{plain(title)}</b>", x=0, y=top, xref="paper", xanchor="left",
            yanchor="middle", showarrow=False,
        )  # fmt: skip
        for row, (lane, bars) in enumerate(_lanes(steps), start=1):
            ticks.append((top + row, lane))
            if bars:
                figure.add_bar(**_bars(bars, top + row, lane, title))
        top += len(LANES) + GAP_ROWS
    styled(figure, x_title="ms since the first step shown began", y_title="")
    figure.update_layout(
        height=int(top * LANE_PX) + 60, showlegend=False, barmode="overlay", bargap=0.25,
        margin={"l": 96, "t": 6}, hovermode="closest",
    )  # fmt: skip
    figure.update_xaxes(rangemode="tozero", showgrid=True, gridcolor="rgba(128,128,128,0.2)")
    figure.update_yaxes(
        tickvals=[row for row, _ in ticks], ticktext=[lane for _, lane in ticks],
        range=[top - 0.4, -0.6], showgrid=False, fixedrange=True,
    )  # fmt: skip
    return figure


def _lanes(steps: Sequence[Step]) -> list[tuple[str, list[Bar]]]:
    zero = min((span.start_ms for span in spans_of(steps)), default=0.0)
    lanes: list[tuple[str, list[Bar]]] = []
    for lane in Lane:
        bars: list[Bar] = [
            (step.index, span.start_ms - zero, span.end_ms - zero)
            for step in steps
            for span in step.spans
            if span.lane is lane
        ]
        lanes.append((lane.value, bars))
    both: list[Bar] = [
        (None, begin - zero, end - zero) for begin, end in both_at_work(spans_of(steps))
    ]
    return [*lanes, (LANES[-1], both)]


def _bars(bars: Sequence[Bar], row: float, lane: str, title: str) -> dict[str, object]:
    colour = COLOURS[Lane(lane)] if lane in list(Lane) else ACCEPTED
    hover = [
        f"{lane}{'' if index is None else f' of step {index + 1}'}<br>{end - begin:.2f} ms "
        f"({begin:.2f} to {end:.2f})"
        for index, begin, end in bars
    ]
    return {
        "base": [begin for _, begin, _ in bars],
        "x": [end - begin for _, begin, end in bars],
        "y": [row] * len(bars),
        "orientation": "h",
        "width": 0.78,
        "marker": {
            "color": colour,
            "opacity": [0.95 if (index or 0) % 2 == 0 else 0.6 for index, _, _ in bars],
            "line": {"width": 0},
        },
        "hovertext": hover,
        "hoverinfo": "text",
        "name": f"{title} {lane}",
    }
