"""What the K page is about: a method of a stored benchmark, at one place of its grid."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from specviz.analysis.benchmark.families import Family
from specviz.analysis.benchmark.results import Cell
from specviz.analysis.k.curves import KCurve
from specviz.store import Store
from specviz.store.benchmarks.redrafts import count_redrafts
from specviz.sweep import curves as k_curves
from specviz.sweep.curves import Place
from specviz.sweep.evidence import Evidence, evidence
from specviz.views.shared.benchmark.results import Opened

KEPT = 32


@dataclass(frozen=True, slots=True)
class Chosen:
    """One method of an opened benchmark."""

    opened: Opened
    family: Family

    @property
    def largest(self) -> int:
        """The arm index of the largest K, the one that is redrafted."""
        return self.family.arms[-1].arm_index

    @property
    def cells(self) -> list[Cell]:
        """What the curves rest on: the Ks and the baseline, wherever they were measured."""
        arms = {arm.arm_index for arm in self.family.arms} | {self.family.arms[0].baseline}
        return [cell for cell in self.opened.results.cells if cell.arm_index in arms]

    def measured(self, place: Place) -> KCurve:
        """The Ks that were run there."""
        return k_curves.measured(self.opened.results, self.family.arms, place)

    def computed(self, place: Place) -> list[KCurve]:
        """Every K below the largest, redrafted where a redraft is stored, and predicted."""
        return _computed(self.opened.store, self._key(place), place, self.measured(place))

    def evidence(self, place: Place) -> Evidence | None:
        """What smaller Ks can be predicted from. Raises StoreError."""
        found = _evidence(self.opened.store, self._key(place))
        return found and found.of(place.category)

    def _key(self, place: Place) -> EvidenceKey:
        row, arms = self.opened.row, self.family.arms
        return EvidenceKey(
            row.benchmark_id,
            row.finished,
            self.opened.store.read(count_redrafts, row.benchmark_id),
            tuple((arm.arm_index, arm.k or 0) for arm in arms),
            arms[0].baseline,
            place.temperature,
            place.concurrency,
        )


@dataclass(frozen=True, slots=True)
class EvidenceKey:
    """The cache key of evidence: it is read again only when this changes."""

    benchmark_id: str
    finished: int
    redrafted: int
    arms: tuple[tuple[int, int], ...]
    baseline: int | None
    temperature: float
    concurrency: int


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the steps")
def _evidence(_store: Store, key: EvidenceKey) -> Evidence | None:
    return evidence(
        _store, key.benchmark_id, dict(key.arms), key.baseline, key.temperature, key.concurrency
    )


@st.cache_resource(max_entries=4 * KEPT, show_spinner="Predicting")
def _computed(_store: Store, key: EvidenceKey, place: Place, _measured: KCurve) -> list[KCurve]:
    known = _evidence(_store, key)
    return k_curves.computed(known and known.of(place.category), _measured)
