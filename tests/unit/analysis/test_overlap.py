"""Time that both lanes worked, against a count of milliseconds one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.overlap import overlap
from specviz.trace import Lane, Span, Step

spans = st.builds(
    lambda lane, begin, length: Span(lane, float(begin), float(begin + length)),
    st.sampled_from(Lane),
    st.integers(0, 60),
    st.integers(0, 20),
)


def steps_of(*given_spans: Span) -> list[Step]:
    return [Step(n, 0.0, (), (), spans=(span,)) for n, span in enumerate(given_spans)]


def test_serial_lanes_do_not_overlap() -> None:
    found = overlap(steps_of(Span(Lane.DRAFT, 0, 3), Span(Lane.VERIFY, 3, 10)))
    assert found is not None
    assert (found.draft_ms, found.verify_ms, found.both_ms, found.share) == (3, 7, 0, 0)


def test_drafting_beside_verification_is_a_share_of_verification() -> None:
    found = overlap(
        steps_of(Span(Lane.VERIFY, 0, 10), Span(Lane.DRAFT, 2, 6), Span(Lane.DRAFT, 9, 14))
    )
    assert found is not None
    assert (found.both_ms, found.share) == (5, pytest.approx(0.5))


def test_a_step_that_drafts_alone_has_no_share() -> None:
    found = overlap(steps_of(Span(Lane.DRAFT, 0, 3)))
    assert found is not None and found.share is None


def test_without_spans_nothing_is_known() -> None:
    assert overlap([Step(0, 0.0, (), (), draft_ms=1.0, verify_ms=2.0)]) is None


@given(st.lists(spans, min_size=1, max_size=12))
def test_it_equals_counting_milliseconds(some: list[Span]) -> None:
    def busy(lane: Lane) -> set[int]:
        return {
            ms
            for span in some
            if span.lane is lane
            for ms in range(int(span.start_ms), int(span.end_ms))
        }

    found = overlap(steps_of(*some))
    assert found is not None
    drafting, verifying = busy(Lane.DRAFT), busy(Lane.VERIFY)
    assert (found.draft_ms, found.verify_ms) == (len(drafting), len(verifying))
    assert found.both_ms == len(drafting & verifying)
