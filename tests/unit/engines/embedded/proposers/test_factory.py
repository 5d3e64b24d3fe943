"""The factory makes a proposer for every method of the embedded engine."""

from __future__ import annotations

from specviz.engines.embedded.proposers.factory import PROPOSERS
from specviz.methods import METHODS


def test_every_method_of_the_embedded_engine_has_a_proposer() -> None:
    assert set(PROPOSERS) == {method for method, record in METHODS.items() if record.embedded_k}
