"""The curves over K of one method, from a stored benchmark."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from specviz.analysis.benchmark.results import ArmState, Cell, Results
from specviz.analysis.k.curves import KCurve, Source, measured_curve, predicted_curve
from specviz.config import EngineKind
from specviz.sweep.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a benchmark: prompts of one category (None: all), a temperature, a concurrency."""

    category: str | None = None
    temperature: float = 0.0
    concurrency: int = 1


def measured(results: Results, arms: Sequence[ArmState], place: Place) -> KCurve:
    """The Ks of `arms`, which differ in K only, that were run there."""
    indices = {arm.arm_index for arm in arms}
    noise = next(
        (
            choice.noise
            for choice in results.k_choices
            if set(choice.arms) <= indices
            and (choice.category, choice.temperature, choice.concurrency)
            == (place.category, place.temperature, place.concurrency)
        ),
        None,
    )
    cells = _cells(results, indices, place)
    return measured_curve(cells, _plain_bytes(results, arms[0], place), noise)


def computed(known: Evidence | None, measured: KCurve) -> list[KCurve]:
    """Every K up to the largest: redrafted where a redraft is stored, and predicted."""
    if known is None:
        return []
    memory_gb = next((p.memory_gb for p in reversed(measured.points) if p.k == known.k), None)
    time = f"Time: {known.cost.basis}." if known.cost else "Times need a baseline."
    notes = {
        Source.REDRAFTED: f"The steps that each K would have taken. {time}",
        Source.PREDICTED: f"K {known.k}'s steps cut short. {time}",
    }
    ks = range(1, known.k + 1)
    curves = [
        predicted_curve(
            known.predictions(ks, redrafted=source is Source.REDRAFTED), source, note, memory_gb
        )
        for source, note in notes.items()
    ]
    return [curve for curve in curves if curve.points]


def _plain_bytes(results: Results, arm: ArmState, place: Place) -> int | None:
    """Memory of the baseline: servers report all of theirs, the embedded engine only what a method
    holds beyond plain decoding."""
    if arm.engine == EngineKind.EMBEDDED:
        return 0
    plain = _cells(results, {arm.baseline}, place)
    return plain[0].memory_bytes if plain else None


def _cells(results: Results, arms: Set[int | None], place: Place) -> list[Cell]:
    cells = results.categories if place.category else results.cells
    return [
        cell
        for cell in cells
        if cell.arm_index in arms
        and (cell.category or None) == place.category
        and (cell.temperature, cell.concurrency) == (place.temperature, place.concurrency)
    ]
