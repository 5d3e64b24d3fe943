"""Users' SQL: what does more than read is refused, what is too much is stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.errors import UsageError
from specviz.store import Store
from specviz.store.sql.guard import checked
from tests.support.sql.hostile.batch import outcomes
from tests.support.sql.hostile.bombs import BOMBS
from tests.support.sql.hostile.statements import REFUSED

EVERY = 4


@pytest.mark.parametrize("family", REFUSED)
def test_a_statement_that_does_more_than_read_is_refused(shared_store: Store, family: str) -> None:
    """By the guard alone: some of each family; the next test asks all of them as a user would."""
    for sql in REFUSED[family][::EVERY]:
        with pytest.raises(UsageError) as refused, shared_store.cursor() as cursor:
            checked(cursor, sql)
        said = str(refused.value)
        assert said.isprintable() and said.endswith((".", "?")), said


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, marks=[] if place == 0 else pytest.mark.slow)
        for place, family in enumerate(REFUSED)
    ],
)
def test_what_was_refused_has_changed_and_told_nothing(tmp_path: Path, family: str) -> None:
    assert outcomes("refused", [family], tmp_path) == {family: {}}


def test_there_are_enough_hostile_statements() -> None:
    families = [*REFUSED.values(), *BOMBS.values()]
    assert len({statement for family in families for statement in family}) >= 480


@pytest.mark.slow
@pytest.mark.parametrize("family", BOMBS)
def test_a_bomb_ends_within_its_limits(tmp_path: Path, family: str) -> None:
    assert outcomes("bombs", [family], tmp_path) == {family: {}}
