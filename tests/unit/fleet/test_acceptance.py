"""Acceptance of the last five minutes, from counters that only ever grow, or begin again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from specviz.fleet.acceptance import SLICES, WINDOW_S, Snapshot, acceptance
from specviz.servers.metrics import SpecCounters

increases = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=40)


def at(at_s: float, drafted: int, accepted: int, tokens: float | None = None) -> Snapshot:
    return Snapshot(at_s, SpecCounters(drafted, drafted, accepted, ()), tokens)


@given(increases, st.integers(0, 1000), st.sets(st.integers(1, 39)))
def test_the_sum_of_the_increases_whether_or_not_the_server_began_again(
    pairs: list[tuple[int, int]], start: int, restarts: set[int]
) -> None:
    """A restart shows only as a count that is smaller than before: elsewhere it is none."""
    drafted, accepted = start, start // 2
    snapshots = [at(0, drafted, accepted)]
    expected = [0, 0]
    for index, (extra, share) in enumerate(pairs, start=1):
        new, taken = extra + 1, min(extra, share)
        if index in restarts and new < drafted:
            drafted, accepted = new, min(taken, accepted)
            taken = accepted
        else:
            drafted, accepted = drafted + new, accepted + taken
        expected = [expected[0] + new, expected[1] + taken]
        snapshots.append(at(index, drafted, accepted))
    found = acceptance(snapshots, len(pairs))
    assert found is not None
    assert [found.num_draft_tokens, found.num_accepted_tokens] == expected
    assert found.draft_acceptance_rate == expected[1] / expected[0]
    assert found.over_s == len(pairs)


def test_what_is_older_than_five_minutes_does_not_count() -> None:
    snapshots = [at(0, 0, 0), at(10, 1000, 1000), at(200, 1000, 1000), at(310, 1010, 1005)]
    found = acceptance(snapshots, 10 + WINDOW_S + 1)
    assert found is not None and found.draft_acceptance_rate == 0.5 and found.over_s == 110


def test_without_requests_there_is_no_rate() -> None:
    found = acceptance([at(0, 7, 3, 50.0), at(5, 7, 3, 50.0)], 5)
    assert found is not None
    assert found.draft_acceptance_rate is None and found.output_tokens == 0.0
    assert found.curve == (None,) * SLICES


def test_tokens_without_drafts_differ_from_no_requests() -> None:
    found = acceptance([at(0, 7, 3, 50.0), at(5, 7, 3, 80.0), at(9, 7, 3, 10.0)], 9)
    assert found is not None and found.output_tokens == 40.0


def test_one_look_says_nothing_about_now() -> None:
    assert acceptance([], 0) is None
    assert acceptance([at(0, 5, 5)], 0) is None
    assert acceptance([at(0, 5, 5), at(1000, 5, 5)], 1000) is None


def test_the_curve_has_the_newest_at_its_end() -> None:
    snapshots = [at(0, 0, 0), at(15, 10, 10), at(165, 20, 15), at(300, 30, 15)]
    found = acceptance(snapshots, 300)
    assert found is not None
    assert found.curve[-1] == 0.0 and found.curve[0] == 1.0 and found.curve[5] == 0.5
