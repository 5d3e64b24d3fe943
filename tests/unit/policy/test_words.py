"""Rows and columns of a policy in words."""

from specviz.policy.policy import Basis, Policy, Row
from specviz.policy.words import column_words, row_words


def row(k: tuple[int, ...], **conditions: object) -> Row:
    return Row(k, (Basis.EDITED,) * len(k), **conditions)  # type: ignore[arg-type]


def test_a_row_is_named_by_its_conditions() -> None:
    assert row_words(row((1,), temperature=0.7)) == "temperature ≤ 0.7"
    assert row_words(row((1,), temperature=1.0, top_p=0.9, category="code")) == (
        "temperature ≤ 1, top-p ≤ 0.9, code"
    )
    assert row_words(row((1,))) == "any request"


def test_a_column_is_named_by_its_load() -> None:
    policy = Policy(4, (1, 4, 5, 16), (row((4, 3, 2, 1)),))
    words = [column_words(policy, column) for column in range(4)]
    assert words == ["1 running", "2 to 4 running", "5 running", "6 or more running"]
    assert column_words(Policy(4, (8,), (row((4,)),)), 0) == "any load"
