"""The verifier's promises for any draft: who is judged and accepted, and what comes next."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from specviz.config import Sampling
from specviz.engines.embedded.draft import Draft, chain
from specviz.engines.embedded.sampler import Sampler
from specviz.engines.embedded.verify import (
    DELTA,
    EPSILON,
    Verified,
    accept_typical,
    residual,
    verify,
    without,
)
from specviz.trace import ROOT, Origin, Verdict
from tests.support.embedded.tiny_models import CPU

VOCABULARY = 7


def sampler(temperature: float = 1.0, seed: int = 0, top_p: float = 1.0) -> Sampler:
    return Sampler(Sampling(temperature=temperature, seed=seed, top_p=top_p), CPU)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """Any tree, parents before children, siblings different; picked, or drawn from something."""
    token_ids: list[int] = []
    parents: list[int] = []
    for _ in range(draw(st.integers(0, 9))):
        parent = draw(st.integers(ROOT, len(parents) - 1))
        taken = {t for t, p in zip(token_ids, parents, strict=True) if p == parent}
        if free := sorted(set(range(VOCABULARY)) - taken):
            token_ids.append(draw(st.sampled_from(free)))
            parents.append(parent)
    probs = tuple(1.0 for _ in parents)
    distributions = None
    if parents and draw(st.booleans()):
        generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
        of_parent = {parent: torch.rand(VOCABULARY, generator=generator) for parent in parents}
        distributions = torch.stack([of_parent[parent] for parent in parents])
        distributions /= distributions.sum(-1, keepdim=True)
    return Draft(tuple(token_ids), tuple(parents), probs, distributions)


@st.composite
def rows_for(draw: st.DrawFn, draft: Draft) -> Tensor:
    """Logits [n + 1, vocabulary], sometimes with ties, sometimes with impossible tokens."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    logits = torch.randn(len(draft.token_ids) + 1, VOCABULARY, generator=generator) * 2
    if draw(st.booleans()):
        logits = logits.round()
    return logits


@st.composite
def problems(draw: st.DrawFn) -> tuple[Draft, Tensor]:
    draft = draw(drafts())
    return draft, draw(rows_for(draft))


@st.composite
def sampled_problems(draw: st.DrawFn) -> tuple[Draft, Tensor, Sampler]:
    draft, logits = draw(problems())
    top_p = draw(st.sampled_from([1.0, 0.8]))
    chosen = sampler(draw(st.floats(0.2, 2.0)), draw(st.integers(0, 1000)), top_p)
    return draft, chosen.probs(logits), chosen


def children_of(draft: Draft, node: int) -> list[int]:
    return [child for child, parent in enumerate(draft.parents) if parent == node]


def walk(draft: Draft, done: Verified) -> list[int]:
    """The nodes whose children were judged: the root and all that was accepted."""
    return [ROOT, *done.path]


@given(problems())
def test_greedy_path_is_the_longest_that_the_target_would_have_taken(problem) -> None:
    draft, logits = problem
    best = logits.argmax(-1).tolist()
    wanted: list[int] = []
    node = ROOT
    while True:
        fitting = [c for c in children_of(draft, node) if draft.token_ids[c] == best[node + 1]]
        if not fitting:
            break
        node = fitting[0]
        wanted.append(node)
    done = verify(draft, logits, sampler(0.0))
    assert list(done.path) == wanted
    assert done.next_token == best[node + 1]
    assert all(j.u is None and j.accept_prob in (None, 0.0, 1.0) for j in done.judgements)


@given(problems())
def test_greedy_output_is_the_target_s_own(problem) -> None:
    """The tokens are the argmaxes of the rows they come from, whatever the draft's shape."""
    draft, logits = problem
    done = verify(draft, logits, sampler(0.0))
    tokens = [*(draft.token_ids[node] for node in done.path), done.next_token]
    rows = [0, *(node + 1 for node in done.path)]
    assert tokens == [int(logits[row].argmax()) for row in rows]


@given(sampled_problems())
def test_path_goes_down_from_the_root(problem) -> None:
    draft, target, chosen = problem
    done = verify(draft, target, chosen)
    assert [draft.parents[node] for node in done.path] == [ROOT, *done.path][: len(done.path)]
    accepted = [n for n, j in enumerate(done.judgements) if j.verdict is Verdict.ACCEPTED]
    assert accepted == sorted(done.path)


@given(sampled_problems())
def test_at_most_one_node_is_accepted_per_depth(problem) -> None:
    draft, target, chosen = problem
    depths: list[int] = []
    for parent in draft.parents:
        depths.append(1 if parent == ROOT else depths[parent] + 1)
    done = verify(draft, target, chosen)
    accepted = [
        d for d, j in zip(depths, done.judgements, strict=True) if j.verdict is Verdict.ACCEPTED
    ]
    assert accepted == list(range(1, len(done.path) + 1))


@given(sampled_problems())
def test_nodes_are_judged_in_turn_and_unreached_ones_are_not(problem) -> None:
    draft, target, chosen = problem
    done = verify(draft, target, chosen)
    judged: set[int] = set()
    for node in walk(draft, done):
        for child in children_of(draft, node):
            judged.add(child)
            if child in done.path:
                break
    for node, judgement in enumerate(done.judgements):
        if node in judged:
            assert judgement.verdict is not Verdict.UNVERIFIED
        else:
            assert judgement.verdict is Verdict.UNVERIFIED
            assert judgement.u is None and judgement.accept_prob is None


@given(sampled_problems())
def test_verdict_follows_from_u_and_accept_prob(problem) -> None:
    draft, target, chosen = problem
    for judgement in verify(draft, target, chosen).judgements:
        if judgement.verdict is not Verdict.UNVERIFIED:
            assert judgement.u is not None and judgement.accept_prob is not None
            assert 0.0 < judgement.u <= 1.0 and 0.0 <= judgement.accept_prob <= 1.0
            accepted = judgement.verdict is Verdict.ACCEPTED
            assert accepted == (judgement.u <= judgement.accept_prob)


@given(sampled_problems())
def test_next_token_says_where_it_is_from(problem) -> None:
    draft, target, chosen = problem
    done = verify(draft, target, chosen)
    last = done.path[-1] if done.path else ROOT
    children = children_of(draft, last)
    if children:
        assert done.origin is Origin.RECOVERED
    elif done.path:
        assert done.origin is Origin.BONUS
    else:
        assert done.origin is Origin.TARGET and not draft.token_ids
    assert target[last + 1, done.next_token] > 0
    if draft.distributions is None:
        assert done.next_token not in {draft.token_ids[child] for child in children}


@given(sampled_problems())
def test_no_token_is_accepted_that_the_target_cannot_say(problem) -> None:
    draft, target, chosen = problem
    for node in verify(draft, target, chosen).path:
        assert target[draft.parents[node] + 1, draft.token_ids[node]] > 0


@given(sampled_problems())
def test_nothing_handed_in_is_changed(problem) -> None:
    draft, target, chosen = problem
    before = target.clone()
    drawn = None if draft.distributions is None else draft.distributions.clone()
    verify(draft, target, chosen)
    assert torch.equal(target, before)
    assert drawn is None or torch.equal(drawn, draft.distributions)


def test_sure_drafter_that_agrees_is_always_accepted() -> None:
    row = torch.tensor([0.2, 0.5, 0.3])
    draft = chain([1, 2], [0.5, 0.3], torch.stack([row, row]))
    for seed in range(50):
        done = verify(draft, torch.stack([row] * 3), sampler(seed=seed))
        assert done.path == (0, 1) and done.origin is Origin.BONUS


def test_second_sibling_is_judged_by_what_the_first_left() -> None:
    target = torch.tensor([[0.1, 0.3, 0.6]] * 3)
    drafter = torch.tensor([0.5, 0.3, 0.2])
    draft = Draft((0, 1), (ROOT, ROOT), (0.5, 0.3), torch.stack([drafter] * 2))
    seen = [verify(draft, target, sampler(seed=seed)).judgements for seed in range(40)]
    second = [j[1] for j in seen if j[0].verdict is Verdict.REJECTED]
    # residual: max(p - q, 0) = (0, 0, 0.4); the first choice without replacement leaves 0.6, 0.4
    assert second and {judgement.accept_prob for judgement in second} == {0.0}
    assert [j[0].accept_prob for j in seen] == pytest.approx([0.2] * len(seen))


def test_picked_siblings_are_accepted_with_the_share_that_is_left() -> None:
    target = torch.tensor([[0.5, 0.3, 0.2]] * 3)
    draft = Draft((0, 1), (ROOT, ROOT), (1.0, 1.0))
    seen = [verify(draft, target, sampler(seed=seed)).judgements for seed in range(40)]
    second = [j[1] for j in seen if j[0].verdict is Verdict.REJECTED]
    assert [j.accept_prob for j in second] == pytest.approx([0.6] * len(second))


def test_residual_of_equal_distributions_is_the_target() -> None:
    row = torch.tensor([0.25, 0.75])
    assert torch.equal(residual(row, row.clone(), 0), row)
    assert torch.equal(without(torch.tensor([1.0, 0.0]), 0), torch.tensor([1.0, 0.0]))


@given(problems(), st.floats(0.3, 2.0))
def test_typical_acceptance_follows_the_paper_s_threshold(problem, temperature) -> None:
    draft, logits = problem
    chosen = sampler(temperature, 1)
    target = chosen.probs(logits)
    done = verify(draft, target, chosen, accept_typical)
    for node, judgement in enumerate(done.judgements):
        if judgement.verdict is not Verdict.UNVERIFIED:
            row = target[draft.parents[node] + 1].double()
            entropy = -sum(p * math.log(p) for p in row.tolist() if p > 0)
            threshold = min(EPSILON, DELTA * math.exp(-entropy))
            prob = float(row[draft.token_ids[node]])
            if abs(prob - threshold) > 1e-5:
                assert (judgement.verdict is Verdict.ACCEPTED) == (prob > threshold)


@given(problems())
def test_typical_acceptance_at_temperature_0_is_greedy(problem) -> None:
    draft, logits = problem
    assert verify(draft, logits, sampler(0.0), accept_typical) == verify(
        draft, logits, sampler(0.0)
    )
