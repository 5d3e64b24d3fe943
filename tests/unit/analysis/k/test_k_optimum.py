"""The best K and what is as good: ties, gaps, memory, and nothing to choose from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.k.optimum import Choice, optimum

choices = st.builds(
    Choice, st.integers(1, 32), st.floats(0.1, 10.0), st.none() | st.floats(0.0, 8.0)
)
some = st.lists(choices, min_size=1, max_size=12, unique_by=lambda choice: choice.k)


def of(speedups: dict[int, float], memory: dict[int, float] | None = None) -> list[Choice]:
    return [Choice(k, speedup, (memory or {}).get(k)) for k, speedup in speedups.items()]


def test_the_plateau_is_within_two_percent_and_its_edge_counts() -> None:
    found = optimum(of({1: 1.9599, 3: 1.96, 5: 2.0, 7: 1.9601, 9: 1.95}))
    assert found is not None
    assert (found.best.k, found.plateau) == (5, (3, 5, 7))


def test_a_plateau_may_have_gaps() -> None:
    found = optimum(of({10: 2.99, 1: 2.97, 5: 2.0, 7: 3.0}))
    assert found is not None
    assert (found.best.k, found.plateau) == (7, (1, 7, 10))


def test_of_equals_the_smallest_is_best() -> None:
    found = optimum(of({9: 1.5, 3: 1.5, 5: 1.5, 1: 1.4999}))
    assert found is not None and found.best.k == 3


def test_what_does_not_fit_is_not_chosen_and_does_not_set_the_plateau() -> None:
    speedups = {3: 2.0, 5: 2.02, 7: 3.0, 9: 2.9}
    memory = {3: 1.0, 5: 2.0, 7: 2.001, 9: 4.0}
    found = optimum(of(speedups, memory), memory_limit_gb=2.0)
    assert found is not None
    assert (found.best.k, found.plateau, found.too_large) == (5, (3, 5), (7, 9))
    assert found.unknown_memory == ()
    free = optimum(of(speedups, memory))
    assert free is not None and (free.best.k, free.too_large) == (7, ())


def test_unknown_memory_is_kept_and_named_where_there_is_a_limit() -> None:
    speedups = of({9: 3.0, 3: 2.0, 5: 1.0}, {3: 1.0})
    limited, free = optimum(speedups, memory_limit_gb=0.5), optimum(speedups)
    assert limited is not None and free is not None
    assert (limited.best.k, limited.too_large) == (9, (3,))
    assert limited.unknown_memory == (5, 9)
    assert free.unknown_memory == ()


def test_there_may_be_nothing() -> None:
    assert optimum([]) is None
    assert optimum(of({3: 2.0, 5: 2.1}, {3: 1.0, 5: 1.0}), memory_limit_gb=0.99) is None
    assert optimum(of({3: 2.0}, {3: 0.0}), memory_limit_gb=0.0) is not None


@pytest.mark.parametrize(("speedup", "worth"), [(0.99, False), (1.0, False), (1.001, True)])
def test_what_is_no_faster_is_not_worth_it(speedup: float, worth: bool) -> None:
    found = optimum(of({4: speedup, 2: 0.5}))
    assert found is not None and found.is_worth_it == worth


@given(some, st.none() | st.floats(0.0, 8.0))
def test_every_choice_is_told_where_it_went(reported: list[Choice], limit: float | None) -> None:
    found = optimum(reported, limit)
    too_large = {
        one.k for one in reported
        if limit is not None and one.memory_gb is not None and one.memory_gb > limit
    }  # fmt: skip
    if found is None:
        assert too_large == {one.k for one in reported}
        return
    fits = {one.k: one.speedup for one in reported if one.k not in too_large}
    assert set(found.too_large) == too_large
    assert found.best.speedup == max(fits.values())
    assert found.best.k == min(k for k, speedup in fits.items() if speedup == found.best.speedup)
    assert found.best.k in found.plateau and list(found.plateau) == sorted(found.plateau)
    for k, speedup in fits.items():
        if abs(speedup / found.best.speedup - 0.98) > 1e-9:
            assert (k in found.plateau) == (speedup / found.best.speedup > 0.98)
