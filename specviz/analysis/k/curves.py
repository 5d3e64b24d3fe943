"""Curves over K by source: measured here, redrafted, predicted, a formula, published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from specviz.analysis.benchmark.results import Cell
from specviz.analysis.interval import Replicates
from specviz.analysis.k.optimum import Choice, Noise, Optimum, optimum
from specviz.analysis.k.predict import Estimate, Prediction
from specviz.analysis.theory import theory
from specviz.reference import published

BYTES_PER_GB = 1e9


class Source(StrEnum):
    """Where a curve is from; what was measured wins over what was computed or published."""

    MEASURED = "measured here"
    REDRAFTED = "redrafted exactly"
    PREDICTED = "predicted from one run"
    FORMULA = "formula"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class KFigures:
    """One K of a curve; None where the source has no figure.

    `mean_acceptance_length`: tok/step, the bonus token included. `draft_acceptance_rate`: accepted
    of drafted, 0-1. `memory_gb` (10^9 bytes) beyond plain decoding.
    """

    k: int
    speedup: Estimate | None = None
    tpot_ms: Estimate | None = None
    mean_acceptance_length: Estimate | None = None
    draft_acceptance_rate: Estimate | None = None
    memory_gb: float | None = None


@dataclass(frozen=True, slots=True)
class KCurve:
    """One source's figures by K, ascending; `note` says how they came about.

    `noise` of the speed-ups; where there is none, `prompts` says how many they rest on, 0 for a
    formula's and published ones.
    """

    source: Source
    points: tuple[KFigures, ...]
    note: str
    noise: Noise | None = field(default=None, compare=False, repr=False)
    prompts: int = 0

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The Ks whose speed-up is known."""
        return tuple(
            Choice(point.k, point.speedup.value, point.memory_gb)
            for point in self.points
            if point.speedup is not None
        )

    def optimum(self, memory_limit_gb: float | None = None) -> Optimum | None:
        """The K to use; None if none fits, or of a single K, which nothing is compared with."""
        if len(self.choices) < 2:
            return None
        return optimum(self.choices, memory_limit_gb, self.noise, self.prompts)


def exactly(value: float | None) -> Estimate | None:
    """A figure without an interval."""
    return None if value is None else Estimate(value, None, None)


def measured_curve(
    cells: Sequence[Cell], plain_bytes: int | None, noise: Noise | None = None
) -> KCurve:
    """Cells of arms that differ in K only, at one temperature, load and category, and the noise of
    their speed-ups where they can be compared.

    Memory is what the arm took beyond `plain_bytes`, its baseline's; None: unknown.
    """
    points = [
        KFigures(
            k=cell.k,
            speedup=Estimate(cell.speedup.ratio, cell.speedup.low, cell.speedup.high)
            if cell.speedup
            else None,
            tpot_ms=exactly(cell.tpot_ms.mean if cell.tpot_ms else None),
            mean_acceptance_length=exactly(
                cell.acceptance.mean_acceptance_length if cell.acceptance else None
            ),
            draft_acceptance_rate=exactly(
                cell.acceptance.draft_acceptance_rate if cell.acceptance else None
            ),
            memory_gb=_beyond(cell.memory_bytes, plain_bytes),
        )
        for cell in cells
        if cell.k is not None
    ]
    note = "Each K was run."
    prompts = max((cell.speedup.prompts for cell in cells if cell.speedup), default=0)
    ascending = tuple(sorted(points, key=lambda point: point.k))
    return KCurve(Source.MEASURED, ascending, note, noise, prompts)


def predicted_curve(
    predictions: Sequence[Prediction], source: Source, note: str, memory_gb: float | None
) -> KCurve:
    """`memory_gb` is that of the run's own K, the last one; for smaller Ks it is unknown."""
    largest = max((prediction.k for prediction in predictions), default=0)
    points = tuple(
        KFigures(
            prediction.k,
            prediction.speedup,
            prediction.tpot_ms,
            prediction.mean_acceptance_length,
            prediction.draft_acceptance_rate,
            memory_gb if prediction.k == largest else None,
        )
        for prediction in predictions
    )
    noises = [one.log_speedup for one in predictions]
    noise = None
    if noises and all(found is not None for found in noises):
        parts = [found for found in noises if found is not None]
        replicates = Replicates(
            np.hstack([part.values for part in parts]),
            parts[0].shares,
            np.concatenate([part.own_error for part in parts]),
        )
        noise = Noise(tuple(one.k for one in predictions), replicates, predictions[0].prompts)
    prompts = max((one.prompts for one in predictions), default=0)
    return KCurve(source, points, note, noise, prompts)


def formula_curve(alpha: float, cost: float, ks: Sequence[int]) -> KCurve:
    """Leviathan et al., arXiv 2211.17192, Theorem 3.8: acceptance `alpha` (0-1), independent of
    place, a draft token for `cost` of a plain step. Raises UsageError for values out of range."""
    points = tuple(
        KFigures(
            k=k,
            speedup=exactly(theory.speedup(alpha, k, cost)),
            mean_acceptance_length=exactly(theory.expected_tokens(alpha, k)),
            draft_acceptance_rate=exactly((theory.expected_tokens(alpha, k) - 1) / k),
        )
        for k in ks
    )
    note = f"α {alpha:.2f}, a draft token costs {cost:.2f} of a plain step (arXiv 2211.17192)."
    return KCurve(Source.FORMULA, points, note)


def published_curve() -> KCurve:
    """The documents' K table; their mean accepted length leaves the bonus token out, so 1 more."""
    rows = published("k")
    points = tuple(
        KFigures(
            k=int(row["num_speculative_tokens"]),
            speedup=exactly(row["e2e_speedup"]),
            tpot_ms=exactly(row["tpot_p50_ms"]),
            mean_acceptance_length=exactly(1 + row["mean_accepted_length"]),
            draft_acceptance_rate=exactly(row["accept_ratio"]),
            memory_gb=row["extra_gpu_memory_gb"],
        )
        for row in rows.to_dict("records")
    )
    first = rows.iloc[0]
    return KCurve(Source.PUBLISHED, points, f"{first['document']}: {first['section']}.")


def _beyond(taken: int | None, plain: int | None) -> float | None:
    return None if taken is None or plain is None else max(0, taken - plain) / BYTES_PER_GB
