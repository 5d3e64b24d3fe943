"""What somebody types into the table: marked, and never more than the server drafts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.results import Slo
from specviz.analysis.k.predict import Estimate
from specviz.analysis.policy.decision import Candidate, Decision
from specviz.analysis.policy.objective import Objective
from specviz.analysis.policy.table import PolicyTable
from specviz.policy.file import parse_policy, policy_toml
from specviz.policy.policy import Basis
from specviz.views.k.policy.editor import evidence, with_ks

GAVE = tuple(Candidate(k, Estimate(50.0 + k, None, None)) for k in (0, 3, 5))


def cell(temperature: float | None, load: int, k: int) -> Decision:
    basis = Basis.MEASURED if temperature is not None else Basis.PREDICTED
    return Decision(temperature, load, k, basis, (k,), GAVE, None, 24, 24, "carried on")


TABLE = PolicyTable(
    "eagle3",
    (3, 5),
    Objective(Slo()),
    tuple((cell(t, 1, 5), cell(t, 8, 3)) for t in (0.0, None)),
)


@given(st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=2))
def test_what_differs_is_edited_and_the_file_can_be_read(ks: list[list[int]]) -> None:
    policy = with_ks(TABLE, ks)
    assert [list(row.k) for row in policy.rows] == ks
    for row, own in zip(policy.rows, TABLE.policy().rows, strict=True):
        for k, basis, table_k, table_basis in zip(row.k, row.basis, own.k, own.basis, strict=True):
            assert basis is (table_basis if k == table_k else Basis.EDITED)
    assert parse_policy(policy_toml(policy)) == policy
    said = evidence(TABLE, policy)["rests on"]
    marked = sum(basis is Basis.EDITED for row in policy.rows for basis in row.basis)
    assert said.str.startswith("edited").sum() == marked


def test_an_edited_k_shows_what_was_measured_of_it() -> None:
    lines = evidence(TABLE, with_ks(TABLE, [[3, 4], [5, 3]]))
    assert lines["throughput, tok/s"].iloc[0] == "53.0"
    assert lines["rests on"].iloc[0] == "edited, the table says 5"
    assert lines["rests on"].iloc[1] == "edited, the table says 3; K 4 did not compete here"
