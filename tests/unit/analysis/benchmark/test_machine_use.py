"""Counters of a machine in, shares of others out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.machine_use import (
    TAKEN_SHARE,
    MachineUse,
    Reading,
    use_between,
)

cores = st.integers(1, 128)
shares = st.floats(0.0, 1.0)
seconds = st.floats(0.01, 1000.0)


def spent(before: Reading, wall_s: float, others: float, own: float, steal: float = 0.0) -> Reading:
    """The counters `wall_s` later, with the given shares of the processor used."""
    capacity = wall_s * before.cores
    return Reading(
        before.at_s + wall_s,
        before.cores,
        before.busy_s + (others + own) * capacity,
        before.own_s + own * capacity,
        before.steal_s + steal * capacity,
    )


@st.composite
def split(draw: st.DrawFn) -> tuple[float, float, float]:
    """Shares of others, ours and the host, at most the whole processor."""
    cuts = sorted(draw(st.tuples(shares, shares, shares)))
    return cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1]


@given(cores, seconds, split())
def test_the_share_of_others_is_what_they_used(
    number: int, wall_s: float, used: tuple[float, float, float]
) -> None:
    others, own, steal = used
    before = Reading(5.0, number, 100.0, 40.0, 3.0)
    use = use_between(before, spent(before, wall_s, others, own, steal))
    assert use.others_share == pytest.approx(others, abs=1e-6)
    assert use.steal_share == pytest.approx(steal, abs=1e-6)
    assert use.taken_share == pytest.approx(min(1.0, others + steal), abs=1e-6)


@given(cores, st.lists(st.tuples(seconds, split()), min_size=2, max_size=5))
def test_a_window_of_several_blocks_has_the_mean_of_their_shares_over_time(
    number: int, blocks: list[tuple[float, tuple[float, float, float]]]
) -> None:
    readings = [Reading(0.0, number, 0.0, 0.0)]
    for wall_s, (others, own, steal) in blocks:
        readings.append(spent(readings[-1], wall_s, others, own, steal))
    whole = use_between(readings[0], readings[-1]).others_share
    mean = sum(wall * used[0] for wall, used in blocks) / sum(wall for wall, _ in blocks)
    assert whole == pytest.approx(mean, abs=1e-6)


@given(*(st.floats(0.0, 1e6) for _ in range(8)), cores)
def test_shares_are_shares_whatever_the_counters_say(
    a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float, number: int
) -> None:
    """Counters are read one after the other, and processes end in between."""
    use = use_between(Reading(a, number, b, c, d, e), Reading(f, number, g, h, b, c))
    for share in (use.others_share, use.steal_share, use.throttled_share, use.taken_share):
        assert share is not None and 0.0 <= share <= 1.0


@given(cores, seconds, shares, shares)
def test_more_use_by_others_is_a_larger_share(
    number: int, wall_s: float, one: float, other: float
) -> None:
    before = Reading(0.0, number, 0.0, 0.0)
    less, more = sorted((one, other))
    first, second = (use_between(before, spent(before, wall_s, x, 0.0)) for x in (less, more))
    assert first.taken_share <= second.taken_share + 1e-9


@given(cores, seconds, shares)
def test_our_own_work_disturbs_nothing(number: int, wall_s: float, own: float) -> None:
    before = Reading(0.0, number, 7.0, 7.0)
    assert use_between(before, spent(before, wall_s, 0.0, own)).others_share <= 1e-9


@pytest.mark.parametrize(
    ("use", "is_disturbed", "words"),
    [
        (MachineUse(0.0), False, "0 % of the processor"),
        (MachineUse(TAKEN_SHARE), True, "something else used 10 % of the processor"),
        (MachineUse(0.05, 0.06), True, "the host gave 6 % of this virtual machine's processor"),
        (MachineUse(0.02, 0.0, None, 0.4), True, "other processes used 40 % of a GPU"),
        (MachineUse(0.02, 0.0, 0.9), False, "2 % of the processor"),
    ],
)
def test_what_disturbs_is_named(use: MachineUse, is_disturbed: bool, words: str) -> None:
    assert use.is_disturbed == is_disturbed
    assert words in use.text


def test_throttling_is_recorded_where_it_can_be_read() -> None:
    before, after = Reading(0.0, 2, 0.0, 0.0, 0.0, 1.0), Reading(10.0, 2, 0.0, 0.0, 0.0, 6.0)
    assert use_between(before, after).throttled_share == 0.25
    assert use_between(before, Reading(10.0, 2, 0.0, 0.0)).throttled_share is None
