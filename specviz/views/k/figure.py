"""Curves over K from several sources: speed-up large, its components next to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from specviz.analysis.k.curves import KCurve, KFigures, Source
from specviz.analysis.k.predict import Estimate
from specviz.figures.style import plain, styled
from specviz.palette import BASELINE, BLUE, GREEN, GREY, ORANGE, PURPLE

HEIGHT_PX = 520

COLOURS = {
    Source.MEASURED: BLUE,
    Source.REDRAFTED: GREEN,
    Source.PREDICTED: ORANGE,
    Source.FORMULA: PURPLE,
    Source.PUBLISHED: GREY,
}
DASHES = {Source.FORMULA: "dot", Source.PUBLISHED: "dash"}
SYMBOLS = {
    Source.MEASURED: "circle",
    Source.REDRAFTED: "diamond",
    Source.PREDICTED: "square",
    Source.FORMULA: "cross",
    Source.PUBLISHED: "triangle-up",
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity: its place, its name, how it is read from a point."""

    row: int
    col: int
    title: str
    unit: str
    value: Callable[[KFigures], Estimate | None]
    factor: float = 1.0


def _memory(point: KFigures) -> Estimate | None:
    return None if point.memory_gb is None else Estimate(point.memory_gb, None, None)


PANELS = (
    Panel(1, 1, "speed-up, ×", "×", lambda point: point.speedup),
    Panel(
        1,
        2,
        "mean acceptance length, tok/step",
        " tok/step",
        lambda point: point.mean_acceptance_length,
    ),
    Panel(1, 3, "acceptance rate, %", " %", lambda point: point.draft_acceptance_rate, 100.0),
    Panel(2, 2, "TPOT, ms", " ms", lambda point: point.tpot_ms),
    Panel(2, 3, "extra memory, GB", " GB", _memory),
)


def curves_by_k(curves: Sequence[KCurve], marked: Sequence[int] = ()) -> go.Figure:
    """One line per source in each panel; `marked` Ks, the plateau, are shaded in the speed-up."""
    figure = make_subplots(
        rows=2,
        cols=3,
        specs=[[{"rowspan": 2}, {}, {}], [None, {}, {}]],
        column_widths=[0.46, 0.27, 0.27],
        horizontal_spacing=0.07,
        vertical_spacing=0.16,
        subplot_titles=[panel.title for panel in PANELS],
    )
    for panel in PANELS:
        for curve in curves:
            _add(figure, panel, curve)
    styled(figure, x_title="", y_title="")
    figure.add_hline(row=1, col=1, y=1.0, line={"color": BASELINE, "dash": "dash", "width": 1.5})
    figure.update_layout(shapes=[*figure.layout.shapes, *map(_mark, marked)])
    figure.update_yaxes(rangemode="tozero")
    figure.update_xaxes(dtick=2, tick0=1, rangemode="tozero")
    for panel in PANELS:
        is_lowest = panel.row == 2 or panel.col == 1
        figure.update_xaxes(row=panel.row, col=panel.col, title="K" if is_lowest else "")
    figure.update_annotations(font_size=13)
    figure.update_layout(
        height=HEIGHT_PX, hovermode="closest", margin={"t": 64, "l": 40, "r": 8, "b": 40},
        legend={"y": 1.16, "yanchor": "top"},
    )  # fmt: skip
    return figure


def _add(figure: go.Figure, panel: Panel, curve: KCurve) -> None:
    points = [(point.k, found) for point in curve.points if (found := panel.value(point))]
    colour, name = COLOURS[curve.source], curve.source.value
    is_main = panel.col == 1
    figure.add_scatter(
        row=panel.row, col=panel.col, x=[k for k, _ in points],
        y=[found.value * panel.factor for _, found in points],
        name=plain(name), legendgroup=name, showlegend=is_main, mode="lines+markers",
        line={"color": colour, "width": 2, "dash": DASHES.get(curve.source, "solid")},
        marker={"size": 7 if is_main else 5, "symbol": SYMBOLS[curve.source]},
        error_y=_interval(points, colour) if is_main else None,
        hovertext=[f"{name}, K {k}: {_text(found, panel)}" for k, found in points],
        hoverinfo="text",
    )  # fmt: skip


def _mark(k: int) -> dict[str, object]:
    """A band over the speed-up at `k`."""
    return {
        "type": "rect", "xref": "x", "yref": "y domain", "x0": k - 0.5, "x1": k + 0.5,
        "y0": 0, "y1": 1, "fillcolor": BLUE, "opacity": 0.1, "line": {"width": 0},
    }  # fmt: skip


def _interval(points: Sequence[tuple[int, Estimate]], colour: str) -> dict[str, object] | None:
    if not any(found.low is not None for _, found in points):
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [(found.high or found.value) - found.value for _, found in points],
        "arrayminus": [found.value - (found.low or found.value) for _, found in points],
        "color": colour,
        "thickness": 1,
        "width": 3,
    }


def _text(found: Estimate, panel: Panel) -> str:
    value = f"{found.value * panel.factor:.3g}{panel.unit}"
    if found.low is None or found.high is None:
        return value
    return f"{value} ({found.low * panel.factor:.3g} to {found.high * panel.factor:.3g})"
