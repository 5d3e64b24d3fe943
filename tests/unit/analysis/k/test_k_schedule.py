"""K by batch size: every batch size has one K, and nobody gets more than was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.k.optimum import Choice, optimum
from specviz.analysis.k.schedule import LARGEST_BATCH, Range, as_vllm
from specviz.analysis.k.schedule import schedule as schedule_of

Grid = Mapping[int, Sequence[Choice]]


def schedule(grid: Grid, largest_batch: int = LARGEST_BATCH) -> tuple[Range, ...]:
    best = {at: found for at, reported in grid.items() if (found := optimum(reported)) is not None}
    return schedule_of(best, largest_batch)


grids = st.dictionaries(
    st.integers(1, 600),
    st.lists(
        st.builds(Choice, st.integers(1, 4), st.sampled_from([0.5, 0.9, 1.0, 1.01, 1.5])),
        max_size=3,
    ),
    max_size=8,
)


def of(best: dict[int, tuple[int, float]]) -> Grid:
    return {
        at: [Choice(k, speedup), Choice(k + 1, speedup - 0.2)] for at, (k, speedup) in best.items()
    }


def test_a_hand_case() -> None:
    """K 7 alone and at 2, K 3 at 8, off at 32; nobody knows about more."""
    ranges = schedule(of({8: (3, 1.4), 1: (7, 2.5), 32: (5, 0.9), 2: (7, 2.2)}))
    assert ranges == (
        Range(1, 1, 7, 2.5, 1),
        Range(2, 2, 7, 2.2, 2),
        Range(3, 8, 3, 1.4, 8),
        Range(9, 32, 0, 0.9, 32),
        Range(33, 256, 0, 0.9, 32, is_guess=True),
    )
    assert as_vllm(ranges) == [[1, 2, 7], [3, 8, 3], [9, 256, 0]]


def test_equally_fast_is_off() -> None:
    assert [part.k for part in schedule(of({1: (4, 1.001), 4: (4, 1.0)}), 4)] == [4, 0]


def test_the_last_k_goes_on_and_is_marked() -> None:
    ranges = schedule(of({4: (5, 1.8)}), largest_batch=64)
    assert ranges == (Range(1, 4, 5, 1.8, 4), Range(5, 64, 5, 1.8, 4, is_guess=True))
    assert as_vllm(ranges) == [[1, 64, 5]]


def test_nothing_is_guessed_where_everything_was_measured() -> None:
    for largest in (4, 3):
        ranges = schedule(of({3: (5, 1.8), 4: (2, 1.2)}), largest)
        assert not any(part.is_guess for part in ranges)
        assert ranges[-1].last == largest


def test_ks_that_differ_only_apart_are_not_joined() -> None:
    ranges = schedule(of({1: (5, 2.0), 2: (3, 1.5), 4: (5, 1.2)}), 4)
    assert as_vllm(ranges) == [[1, 1, 5], [2, 2, 3], [3, 4, 5]]


def test_a_concurrency_without_a_choice_leaves_its_sizes_to_the_next() -> None:
    grid = {**of({1: (5, 2.0), 8: (3, 1.5)}), 4: []}
    assert as_vllm(schedule(grid, 8)) == [[1, 1, 5], [2, 8, 3]]
    assert schedule({}) == () == schedule({4: []})
    assert as_vllm(()) == []


@given(grids, st.sampled_from([1, 7, LARGEST_BATCH]))
def test_every_batch_size_has_one_k(grid: Grid, largest: int) -> None:
    ranges = schedule(grid, largest)
    measured = {at for at, reported in grid.items() if reported and at <= largest}
    if not measured:
        assert ranges == ()
        return
    assert [size for part in ranges for size in range(part.first, part.last + 1)] == [
        *range(1, largest + 1)
    ]
    for part in ranges:
        found = optimum(grid[part.measured_at])
        assert found is not None and found.best.speedup == part.speedup
        assert part.k == (found.best.k if found.best.speedup > 1 else 0)
        assert part.is_guess == (part.first > max(measured))
        if not part.is_guess:  # nobody gets the K of a smaller batch
            assert part.measured_at == part.last in measured
    joined = as_vllm(ranges)
    by_size = {size: part.k for part in ranges for size in range(part.first, part.last + 1)}
    assert {s: k for first, last, k in joined for s in range(first, last + 1)} == by_size
    assert all(one[1] + 1 == other[0] for one, other in pairwise(joined))
    assert all(one[2] != other[2] for one, other in pairwise(joined))


def test_what_noise_leaves_open_is_off() -> None:
    """Twice as fast, from four prompts: nobody knows."""
    few = optimum([Choice(3, 2.0), Choice(5, 1.5)], prompts=4)
    assert few is not None
    (part,) = schedule_of({1: few}, 1)
    assert (part.k, part.shown) == (0, "2.00×, not decided: 4 prompts, 5 needed")
