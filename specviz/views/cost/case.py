"""What the Cost page was asked: a basis, a technique, hardware, traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from specviz.analysis.cost.answer import Question, Served
from specviz.analysis.cost.basis import Basis, Way, published_training
from specviz.analysis.cost.payback import Training


@dataclass(frozen=True, slots=True)
class Unpriced:
    """`way` at concurrency `at` on hardware whose price nobody has typed yet."""

    basis: Basis
    way: Way
    at: int | None
    hardware: str

    @property
    def baseline(self) -> Served:
        return self.basis.baseline.served[self.at]

    @property
    def method(self) -> Served:
        return self.way.served[self.at]


@dataclass(frozen=True, slots=True)
class Case:
    """`way` at concurrency `at` against the basis' baseline. `by_concurrency` is the basis itself,
    or the published one that has the curve which a published table lacks. `place`: that what
    was measured on one machine is priced as another; `disturbance`: that something else used the
    machine meanwhile; None where it is not so."""

    basis: Basis
    way: Way
    at: int | None
    question: Question
    by_concurrency: Basis
    place: str | None = None
    disturbance: str | None = None

    def techniques(self) -> Iterator[tuple[Way, Question]]:
        """All techniques at this concurrency; the others with their published training."""
        for way in self.basis.techniques:
            if way.name == self.way.name:
                yield way, self.question
            elif self.at in way.served:
                usd, retrains = published_training(way.method)
                updates = self.question.training.updates_per_year
                training = Training(usd, updates, retrains)
                served = way.served[self.at]
                yield way, replace(self.question, method=served, training=training)
