"""Which sublayers of the target drafting left out, step by step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.trace import Step

KINDS = ("attention", "mlp")
_SUBLAYER = re.compile(r"(attention|mlp) (\d+)")


@dataclass(frozen=True, slots=True)
class SkippedLayers:
    """A grid of sublayers and the steps that report which they skipped.

    `sublayers` goes from the first to the last layer that was ever skipped: a trace does not say
    how many the target has. `skipped[i][j]` is whether step `steps[j]` skipped `sublayers[i]`.
    """

    sublayers: tuple[str, ...]
    steps: tuple[Step, ...]
    skipped: tuple[tuple[bool, ...], ...]


def skipped_layers(steps: Sequence[Step]) -> SkippedLayers | None:
    """The grid; None for a method that skips nothing or an engine that does not report it."""
    reporting = tuple(step for step in steps if step.skipped_layers is not None)
    if not reporting:
        return None
    sets = [frozenset(step.skipped_layers or ()) for step in reporting]
    sublayers = _in_order(frozenset[str]().union(*sets))
    grid = tuple(tuple(name in skipped for skipped in sets) for name in sublayers)
    return SkippedLayers(sublayers, reporting, grid)


def _in_order(names: frozenset[str]) -> tuple[str, ...]:
    """All sublayers up to the highest one named, then names of another form as they are."""
    layers = [int(match[2]) for name in names if (match := _SUBLAYER.fullmatch(name))]
    known = [f"{kind} {layer}" for layer in range(max(layers, default=-1) + 1) for kind in KINDS]
    return (*known, *sorted(names - set(known)))
