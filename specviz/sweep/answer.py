"""Which K, from a stored benchmark: the data of the K page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from specviz.analysis.benchmark.families import with_most_ks
from specviz.analysis.k.curves import KCurve, KFigures
from specviz.analysis.verdict import verdict_of
from specviz.bench.results import results_of
from specviz.store import Store
from specviz.sweep.curves import Place, computed, measured
from specviz.sweep.evidence import evidence


def k_answer(
    store: Store,
    benchmark_id: str,
    method: str | None = None,
    place: Place | None = None,
    memory_gb: float | None = None,
) -> dict[str, Any]:
    """Curves and optimum of one method (None: the one with most Ks), by source. JSON-ready.

    Raises UsageError where the benchmark has no such method with a K, StoreError.
    """
    place = place or Place()
    results = results_of(store, benchmark_id)
    arms = with_most_ks(results.arms, method).arms
    known = evidence(
        store,
        benchmark_id,
        {arm.arm_index: arm.k or 0 for arm in arms},
        arms[0].baseline,
        place.temperature,
        place.concurrency,
    )
    own = measured(results, arms, place)
    curves = [own, *computed(known and known.of(place.category), own)]
    return {
        "benchmark_id": benchmark_id,
        "method": arms[0].method,
        "engine": arms[0].engine,
        "place": asdict(place),
        "sources": {curve.source.value: _shown(curve, memory_gb) for curve in curves},
    }


def _shown(curve: KCurve, memory_gb: float | None) -> dict[str, Any]:
    found = curve.optimum(memory_gb)
    return {
        "note": curve.note,
        "best_k": found and found.best.k,
        "best_speedup": found and found.best.speedup,
        "best_low": found and found.low,
        "best_high": found and found.high,
        "verdict": found and found.verdict,
        "more_prompts": found and found.more_prompts,
        "plateau": found and list(found.plateau),
        "ks": [_point(point) for point in curve.points],
    }


def _point(point: KFigures) -> dict[str, Any]:
    """A speed-up is a ratio with its interval, under the names that a benchmark gives it."""
    speedup = point.speedup
    shown = speedup and {
        "ratio": speedup.value,
        "low": speedup.low,
        "high": speedup.high,
        "verdict": verdict_of(speedup.low, speedup.high),
    }
    return {**asdict(point), "speedup": shown}
