"""Which benchmark is opened unasked: what the page needs, then how much, then the newest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.informative import (
    ENOUGH,
    Contents,
    MeasuredArm,
    Need,
    Place,
    most_informative,
    why_text,
)

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
AT_1: list[Place] = [(0.0, 1)]


def arm(
    method: str = "baseline", k: int | None = None, places: Sequence[Place] = AT_1, model: str = "m"
) -> MeasuredArm:
    name = f"{method} · K {k}" if k else method
    return MeasuredArm(name, "vllm", method, k, model, None, frozenset(places))


def stored(*arms: MeasuredArm, name: str = "a", hours: int = 0, **changes: int) -> Contents:
    found = Contents(name, BEGIN + timedelta(hours=hours), 100, 6, arms)
    return replace(found, **changes)


SWEEP = stored(arm(), *(arm("eagle3", k) for k in range(1, 6)), name="sweep")
METHODS = stored(arm(), arm("eagle3", 3), arm("ngram", 3), name="methods")
PLACES = [(0.0, 1), (0.0, 4), (0.0, 16)]
GRID = stored(arm(places=PLACES), arm("eagle3", 3, PLACES), name="grid")
NEWEST = stored(arm(), arm("eagle3", 3), name="newest", hours=9, requests=5000)


@pytest.mark.parametrize(
    ("need", "name"), [(Need.KS, "sweep"), (Need.METHODS, "methods"), (Need.LOADS, "grid")]
)
def test_what_the_page_needs_goes_before_size_and_age(need: Need, name: str) -> None:
    assert most_informative([NEWEST, SWEEP, METHODS, GRID], need).benchmark_id == name


def test_then_requests_then_categories_then_loads_then_the_newest() -> None:
    more = replace(SWEEP, benchmark_id="more", requests=200)
    several = replace(SWEEP, benchmark_id="several", categories=7)
    later = replace(SWEEP, benchmark_id="later", started_at=BEGIN + timedelta(days=1))
    assert most_informative([later, several, more, SWEEP], Need.KS) is more
    assert most_informative([later, several, SWEEP], Need.KS) is several
    assert most_informative([SWEEP, later], Need.KS) is later


def test_what_has_no_plain_decoding_beside_it_compares_nothing() -> None:
    alone = stored(arm("eagle3", 3), arm("ngram", 3))
    elsewhere = stored(arm(places=[(1.0, 1)]), arm("eagle3", 3))
    other_model = stored(arm(model="other"), arm("eagle3", 3))
    for found in (alone, elsewhere, other_model, stored()):
        assert [found.has(need) for need in Need] == [0, 0, 0]
        assert most_informative([found, SWEEP], Need.LOADS) is SWEEP


def test_loads_are_counted_at_one_temperature() -> None:
    places = [(0.0, 1), (0.5, 4), (1.0, 16)]
    assert stored(arm(places=places), arm("eagle3", 3, places)).has(Need.LOADS) == 1
    assert GRID.has(Need.LOADS) == 3


def test_why_is_said_where_there_is_a_choice() -> None:
    assert why_text(SWEEP, Need.KS, 1) is None
    assert why_text(SWEEP, Need.KS, 3) == (
        "The most informative of 3: 5 Ks next to plain decoding, 100 requests, 6 categories, "
        "1 load."
    )
    nothing = why_text(stored(arm("ngram", 3)), Need.METHODS, 2)
    assert nothing and "no method next to plain decoding" in nothing


@given(
    st.lists(
        st.builds(
            lambda ks, requests, hours: stored(
                arm(), *(arm("eagle3", k) for k in range(1, ks + 1)), hours=hours, requests=requests
            ),
            st.integers(0, 6),
            st.integers(1, 5),
            st.integers(0, 5),
        ),
        min_size=1,
    )
)
def test_nothing_else_has_more_of_what_counts_first(found: list[Contents]) -> None:
    best = most_informative(found, Need.KS)

    def rank(one: Contents) -> tuple[int, int, datetime]:
        return min(one.has(Need.KS), ENOUGH[Need.KS]), one.requests, one.started_at

    assert best in found
    assert all(rank(one) <= rank(best) for one in found)
