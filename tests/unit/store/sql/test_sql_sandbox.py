"""Users' SQL: what does more than read is refused, what is too much is stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sql.hostile.batch import outcomes
from tests.support.sql.hostile.bombs import BOMBS
from tests.support.sql.hostile.statements import REFUSED


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    return outcomes("refused", [*REFUSED], tmp_path_factory.mktemp("refused"))


@pytest.mark.parametrize("family", REFUSED)
def test_a_statement_that_does_more_than_read_is_refused(
    refused: dict[str, dict[str, str]], family: str
) -> None:
    assert refused[family] == {}


def test_there_are_enough_hostile_statements() -> None:
    families = [*REFUSED.values(), *BOMBS.values()]
    assert len({statement for family in families for statement in family}) >= 480


@pytest.mark.slow
@pytest.mark.parametrize("family", BOMBS)
def test_a_bomb_ends_within_its_limits(tmp_path: Path, family: str) -> None:
    assert outcomes("bombs", [family], tmp_path) == {family: {}}
