"""Acceptance of a cell: hand-counted steps, and what must hold for any steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.acceptance import acceptance
from specviz.analysis.benchmark.results import Acceptance
from tests.support.analysis.benchmark_frames import SOME, frame, request, results

Step = tuple[int, int]  # drafted, accepted


def of(*requests: list[Step], is_chain: bool = True) -> Acceptance:
    found = acceptance(frame([answer(steps, is_chain) for steps in requests]))
    assert found is not None
    return found


def answer(steps: list[Step], is_chain: bool = True) -> dict[str, object]:
    drafted, accepted = [step[0] for step in steps], [step[1] for step in steps]
    return request(1, per_step_accepted=accepted, per_step_drafted=drafted, is_chain=is_chain)


steps = st.lists(
    st.integers(1, 6).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k))), max_size=12
)
requests = st.lists(steps, min_size=1, max_size=8).filter(lambda many: any(many))


def test_a_chain_by_hand() -> None:
    found = of([(3, 3), (3, 1)], [(3, 0), (1, 1)])
    assert (found.num_drafts, found.num_draft_tokens, found.num_accepted_tokens) == (4, 10, 5)
    assert found.draft_acceptance_rate == 5 / 10
    assert found.draft_acceptance_rate_request_mean == pytest.approx((4 / 6 + 1 / 4) / 2)
    assert found.mean_acceptance_length == 1 + 5 / 4
    assert found.mean_acceptance_length_request_mean == pytest.approx(
        ((1 + 4 / 2) + (1 + 1 / 2)) / 2
    )
    assert found.alpha == 5 / (5 + 2)
    assert found.acceptance_rate_per_pos == (3 / 4, 1 / 4, 1 / 4)
    # the draft of one never reached depth 2
    assert found.conditional_acceptance_rate_per_pos == (3 / 4, 1 / 2, 1 / 1)


def test_a_tree_by_hand() -> None:
    found = of([(8, 3), (8, 1), (8, 0)], is_chain=False)
    assert found.draft_acceptance_rate == 4 / 24
    assert found.alpha is None
    assert found.acceptance_rate_per_pos == (2 / 3, 1 / 3, 1 / 3)
    assert found.conditional_acceptance_rate_per_pos == (2 / 3, 1 / 2, 1 / 1)


def test_alpha_of_trees_counts_the_tokens_they_report_as_judged() -> None:
    first = answer([(8, 3), (8, 1)], is_chain=False) | {"num_judged_tokens": 9}
    second = answer([(8, 0)], is_chain=False) | {"num_judged_tokens": 3}
    found = acceptance(frame([first, second]))
    assert found is not None and found.alpha == 4 / 12
    silent = acceptance(frame([first, second | {"num_judged_tokens": None}]))
    assert silent is not None and silent.alpha is None


def test_depths_that_no_step_reached_are_unknown() -> None:
    found = of([(3, 1), (3, 0)])
    assert found.acceptance_rate_per_pos == (1 / 2, 0, 0)
    assert found.conditional_acceptance_rate_per_pos == (1 / 2, 0, None)


@SOME
@given(requests, st.booleans())
def test_positions_add_up_to_the_length(many: list[list[Step]], is_chain: bool) -> None:
    found = of(*many, is_chain=is_chain)
    assert 1 + sum(found.acceptance_rate_per_pos) == pytest.approx(
        found.mean_acceptance_length, rel=1e-12
    )
    drafts = [round(rate * found.num_drafts) for rate in found.acceptance_rate_per_pos]
    assert found.num_drafts + sum(drafts) == found.num_drafts + found.num_accepted_tokens
    assert list(found.acceptance_rate_per_pos) == sorted(
        found.acceptance_rate_per_pos, reverse=True
    )


@SOME
@given(requests)
def test_unconditional_is_the_product_of_conditional_for_full_chains(
    many: list[list[Step]],
) -> None:
    found = of(*[[(6, accepted) for _, accepted in steps] for steps in many])
    product = 1.0
    for rate, there in zip(
        found.conditional_acceptance_rate_per_pos, found.acceptance_rate_per_pos, strict=True
    ):
        product *= rate or 0.0
        assert there == pytest.approx(product)


@SOME
@given(requests)
def test_alpha_counts_only_what_was_judged(many: list[list[Step]]) -> None:
    every = [step for steps in many for step in steps]
    judged = sum(min(drafted, accepted + 1) for drafted, accepted in every)
    found = of(*many)
    assert found.alpha == pytest.approx(sum(accepted for _, accepted in every) / judged)
    assert found.alpha >= found.draft_acceptance_rate


def test_a_baseline_and_a_silent_server_have_none() -> None:
    assert acceptance(frame([request(0)])) is None
    silent = dict.fromkeys(["num_drafts", "num_draft_tokens", "num_accepted_tokens"])
    assert acceptance(frame([request(1, **silent)])) is None
    cell = results([request(0), request(1, **silent)]).cells[1]
    assert cell.acceptance is None
    assert "Acceptance leaves out 1 of 1 requests, which reported no counts." in cell.notes


def test_missing_steps_leave_the_totals() -> None:
    counts = dict(num_drafts=2, num_draft_tokens=6, num_accepted_tokens=3)
    rows = [answer([(3, 1)]), request(1, 1, **counts)]
    found = acceptance(frame(rows))
    assert found is not None
    assert (found.draft_acceptance_rate, found.mean_acceptance_length) == (4 / 9, 1 + 4 / 3)
    assert (
        found.acceptance_rate_per_pos,
        found.conditional_acceptance_rate_per_pos,
        found.alpha,
    ) == ((), (), None)
    cell = results(rows).cells[0]
    assert "No acceptance by depth: not every request reported its steps." in cell.notes


def test_a_request_without_drafts_has_no_rate_of_its_own() -> None:
    found = of([(4, 2)], [])
    assert (found.draft_acceptance_rate, found.draft_acceptance_rate_request_mean) == (1 / 2, 1 / 2)
    assert found.mean_acceptance_length_request_mean == 3.0


def test_means_that_differ_are_both_said() -> None:
    short, long = answer([(4, 4)]), answer([(4, 1)] * 9)
    cell = results([short, long]).cells[0]
    assert cell.acceptance is not None
    assert cell.acceptance.draft_acceptance_rate == 13 / 40
    assert cell.acceptance.draft_acceptance_rate_request_mean == 5 / 8
    said = [note for note in cell.notes if note.startswith("Acceptance is")]
    assert len(said) == 1
    assert "0.33 over all draft tokens and 0.62 as the mean of requests" in said[0]
    assert not [n for n in results([long]).cells[0].notes if n.startswith("Acceptance is")]
