"""How figures distinguish a benchmark's arms: families, colours, names next to lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.analysis.benchmark.families import families
from specviz.analysis.benchmark.results import ArmState
from specviz.figures.style import blended, plain
from specviz.palette import BASELINE, FAMILY_COLOURS

PALEST = 0.45
"""Share of its family's colour that the smallest K has; the largest has all of it."""

LABEL_PX = 17
CHAR_PX = 7


@dataclass(frozen=True, slots=True)
class LineEnd:
    """The name of a line and where the line ends on the y axis."""

    label: str
    y: float
    colour: str


def arm_colours(arms: Sequence[ArmState], shown: Collection[int] | None = None) -> dict[int, str]:
    """One colour per arm, by `arm_index`: a hue per family, stronger with K; baselines grey.

    `shown`: the arms that a chart has, None for all; the fewer, the easier to distinguish.
    """
    colours: dict[int, str] = {}
    hues = 0
    for family in families(arms):
        hue = BASELINE if family.is_baseline else FAMILY_COLOURS[hues % len(FAMILY_COLOURS)]
        hues += not family.is_baseline
        members = [arm for arm in family.arms if shown is None or arm.arm_index in shown]
        for place, arm in enumerate(members, start=1):
            colours[arm.arm_index] = _shade(hue, place, len(members))
    return colours


def family_colours(arms: Sequence[ArmState]) -> dict[str, str]:
    """The full hue of each family, by its label."""
    colours = arm_colours(arms)
    return {family.label: colours[family.arms[-1].arm_index] for family in families(arms)}


def add_line_ends(figure: go.Figure, ends: Sequence[LineEnd], y_range: tuple[float, float]) -> None:
    """Name the lines at their right ends, pushed apart where they would cover each other."""
    height = max(figure.layout.height, 100 + LABEL_PX * len(ends))
    right = 28 + CHAR_PX * max((len(end.label) for end in ends), default=0)
    figure.update_layout(height=height, showlegend=False, margin={"r": min(right, 320)})
    margin = figure.layout.margin
    gap = LABEL_PX / (height - margin.t - margin.b) * (y_range[1] - y_range[0])
    ordered = sorted(ends, key=lambda end: end.y)
    for end, y in zip(ordered, pushed_apart([end.y for end in ordered], gap, y_range), strict=True):
        figure.add_annotation(
            text=f'<span style="color:{end.colour}">■</span> {plain(end.label)}',
            x=1, xref="paper", xanchor="left", xshift=6, y=y, yanchor="middle", showarrow=False,
        )  # fmt: skip
    figure.update_yaxes(range=y_range)


def pushed_apart(values: Sequence[float], gap: float, within: tuple[float, float]) -> list[float]:
    """Ascending values moved to be `gap` apart, as near to where they were as that allows.

    They stay in `within` where there is room for all of them.
    """
    low, high = within
    placed: list[float] = []
    for value in values:
        placed.append(max(value, placed[-1] + gap) if placed else max(value, low + gap / 2))
    ceiling = high - gap / 2
    for at in range(len(placed) - 1, -1, -1):
        placed[at] = min(placed[at], ceiling)
        ceiling = placed[at] - gap
    return placed


def widened(values: Sequence[float], *, zero: bool = True) -> tuple[float, float]:
    """A range for an axis that holds the values with some room above, and 0 where it should."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.06 * (high - min(low, 0.0)) or 1.0
    return (min(0.0, low) if zero else low - room), high + room


def _shade(hue: str, place: int, of: int) -> str:
    share = 1.0 if of == 1 else PALEST + (1 - PALEST) * (place - 1) / (of - 1)
    return blended(hue, "#ffffff", share)
