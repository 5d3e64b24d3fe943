"""What the K page is about: a method of a stored benchmark, at one place of its grid."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from specviz.analysis.k.curves import KCurve
from specviz.bench import k_curves
from specviz.bench.k_curves import Place
from specviz.bench.k_evidence import Evidence, evidence
from specviz.figures.bench_arms import Family
from specviz.store import Store
from specviz.views.bench_opened import Opened

KEPT = 32


@dataclass(frozen=True, slots=True)
class Chosen:
    """One method of an opened benchmark."""

    opened: Opened
    family: Family

    @property
    def largest(self) -> int:
        """The arm index of the largest K, the one that is replayed."""
        return self.family.arms[-1].arm_index

    def measured(self, place: Place) -> KCurve:
        """The Ks that were run there."""
        return k_curves.measured(self.opened.results, self.family.arms, place)

    def computed(self, place: Place) -> list[KCurve]:
        """Every K below the largest, replayed where a replay is stored, and predicted."""
        return k_curves.computed(self.evidence(place), self.measured(place))

    def evidence(self, place: Place) -> Evidence | None:
        """What smaller Ks can be told from. Raises StoreError."""
        row, arms = self.opened.row, self.family.arms
        found = _evidence(
            self.opened.store,
            row.benchmark_id,
            row.finished,
            replayed_answers(self.opened.store, row.benchmark_id),
            tuple((arm.arm_index, arm.k or 0) for arm in arms),
            arms[0].baseline,
            place.temperature,
            place.concurrency,
        )
        return found and found.of(place.category)


def replayed_answers(store: Store, benchmark_id: str) -> int:
    """How many answers of the benchmark were replayed: another number, another evidence."""
    found = store.query(
        "SELECT count(*) AS n FROM k_replays WHERE benchmark_id = ?", [benchmark_id]
    )
    return int(found["n"][0])


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the steps")
def _evidence(
    _store: Store,
    benchmark_id: str,
    finished: int,
    replayed: int,
    arms: tuple[tuple[int, int], ...],
    baseline: int | None,
    temperature: float,
    concurrency: int,
) -> Evidence | None:
    return evidence(_store, benchmark_id, dict(arms), baseline, temperature, concurrency)
