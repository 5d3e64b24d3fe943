"""Acceptance by depth against drafts counted by hand, and what must hold for any draft."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.depths import acceptance_by_depth, accepted_path
from specviz.analysis.metrics import acceptance_rate_per_pos
from specviz.trace import ROOT, Step, TokenDecision, Verdict

A, R, U = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.UNVERIFIED


def tree(*nodes: tuple[int, Verdict]) -> Step:
    """A step of (parent, verdict) nodes."""
    depths: list[int] = []
    for parent, _ in nodes:
        depths.append(1 if parent == ROOT else depths[parent] + 1)
    drafted = tuple(
        TokenDecision(depth, parent, 7, "x", verdict)
        for depth, (parent, verdict) in zip(depths, nodes, strict=True)
    )
    return Step(0, 1.0, drafted, ())


def chain(drafted: int, accepted: int) -> Step:
    verdicts = [A] * accepted + [R, *[U] * drafted]
    return tree(*[(place - 1, verdicts[place]) for place in range(drafted)])


def test_chains() -> None:
    one, two, three = acceptance_by_depth([chain(3, 3), chain(3, 1), chain(1, 1), chain(0, 0)])
    assert (one.drafting, one.reached, one.accepted) == (3, 3, 3)
    assert (two.drafting, two.reached, two.accepted) == (3, 2, 1)
    assert (three.drafting, three.reached, three.accepted) == (3, 1, 1)
    assert (two.unconditional, two.conditional) == (pytest.approx(1 / 3), pytest.approx(1 / 2))


def test_in_a_tree_a_depth_is_reached_below_the_accepted_node_only() -> None:
    # the second sibling is accepted, only the first has a child: depth 2 is not reached
    step = tree((ROOT, R), (ROOT, A), (0, U))
    one, two = acceptance_by_depth([step])
    assert (one.reached, one.accepted) == (1, 1)
    assert (two.reached, two.accepted, two.conditional) == (0, 0, None)
    assert accepted_path(step) == (1,)


def test_several_candidates_are_one_chance() -> None:
    (one,) = acceptance_by_depth([tree((ROOT, R), (ROOT, R), (ROOT, A)), tree((ROOT, R))])
    assert (one.reached, one.accepted) == (2, 1)


def test_nothing_drafted_is_no_depth() -> None:
    assert acceptance_by_depth([chain(0, 0)]) == ()


@st.composite
def judged_trees(draw: st.DrawFn) -> Step:
    """A tree judged as a verifier does: siblings in turn, then below the accepted one."""
    parents = [draw(st.integers(ROOT, place - 1)) for place in range(draw(st.integers(0, 9)))]
    verdicts = [U] * len(parents)
    node = ROOT
    while children := [place for place, parent in enumerate(parents) if parent == node]:
        chosen = draw(st.sampled_from([None, *children]))
        for child in children:
            verdicts[child] = A if child == chosen else R
            if child == chosen:
                break
        if chosen is None:
            break
        node = chosen
    return tree(*zip(parents, verdicts, strict=True))


@given(st.lists(judged_trees(), max_size=8))
def test_rates_and_counts_fit_together(steps: list[Step]) -> None:
    depths = acceptance_by_depth(steps)
    drafting = [step for step in steps if step.drafted]
    assert tuple(entry.unconditional for entry in depths) == acceptance_rate_per_pos(drafting)
    assert sum(entry.accepted for entry in depths) == sum(step.num_accepted for step in steps)
    before = len(drafting)
    for entry in depths:
        assert entry.accepted <= entry.reached <= before  # who reaches a depth was accepted before
        before = entry.accepted
