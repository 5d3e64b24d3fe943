"""SuffixDecoding against counts of every piece of the texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.engines.embedded.proposers.suffix import Suffix
from specviz.engines.embedded.proposers.suffix_tree import SuffixTree
from tests.support.embedded.random_models import decode, random_llama, sampler

TEXT = st.lists(st.integers(0, 3), max_size=40)
DEPTH = 5


def followers(texts, piece, depth):
    """How often each token follows `piece`, where both fit into `depth` tokens."""
    counts = {}
    size = len(piece)
    for text in texts:
        for end in range(size, len(text)):
            if size < depth and text[end - size : end] == piece:
                counts[text[end]] = counts.get(text[end], 0) + 1
    return counts


def all_followers(tree, pattern):
    """The same, asked of the tree."""
    for place in tree.places(pattern):
        if place.matched == len(pattern):
            guess = tree.guess(place, 100, 0.0, branches=True)
            return {token: prob for token, parent, prob in zip(*guess, strict=True) if parent == -1}
    return {}


def grown(texts, data=None):
    tree = SuffixTree(DEPTH)
    for text in texts:
        tree.begin()
        tree.extend(text)
    return tree


@given(
    st.lists(TEXT, max_size=4),
    st.integers(0, 3),
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
)
def test_shares_are_those_of_the_texts(texts, forgotten, piece):
    tree = grown(texts)
    for _ in range(min(forgotten, len(texts))):
        tree.forget_first()
    left = texts[forgotten:]
    counts = followers(left, piece, DEPTH)
    total = sum(counts.values())
    expected = {token: count / total for token, count in counts.items()}
    assert all_followers(tree, piece) == pytest.approx(expected)


@given(TEXT, TEXT, st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_growing_token_by_token_is_growing_at_once(first, second, piece):
    slowly = SuffixTree(DEPTH)
    for text in (first, second):
        slowly.begin()
        for token in text:
            slowly.extend([token])
    at_once = grown([first, second])
    assert all_followers(slowly, piece) == all_followers(at_once, piece)
    assert slowly.nbytes == pytest.approx(at_once.nbytes, rel=0.2, abs=400)


@given(st.lists(TEXT, max_size=4))
def test_forgetting_everything_leaves_nothing(texts):
    tree = grown(texts)
    for _ in texts:
        tree.forget_first()
    assert (len(tree), tree.tokens) == (0, 0)
    assert [*tree.places([0])] == []


def best_path(texts, pattern, most, least, depth):
    """The continuation along the most frequent followers, the slow way: probabilities only."""
    piece, probs, prob = list(pattern), [], 1.0
    while len(probs) < most and (counts := followers(texts, piece, depth)):
        top = max(counts.values())
        prob *= top / sum(counts.values())
        if prob < least:
            break
        winners = [token for token, count in counts.items() if count == top]
        if len(winners) > 1:
            return None  # either would do: not compared
        piece.append(winners[0])
        probs.append(prob)
    return piece[len(pattern) :], probs


@given(TEXT, st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(1, 4))
def test_a_path_follows_the_most_frequent(text, pattern, most):
    tree = grown([text])
    for place in tree.places(pattern):
        expected = best_path([text], pattern[-place.matched :], most, 0.1, DEPTH)
        if expected is not None:
            guess = tree.guess(place, most, 0.1, branches=False)
            assert guess.token_ids == expected[0]
            assert guess.probs == pytest.approx(expected[1])
            assert guess.parents == list(range(-1, len(guess.token_ids) - 1))


@given(TEXT, st.lists(st.integers(0, 3), min_size=1, max_size=3), st.integers(1, 8))
def test_a_tree_takes_the_likeliest_first(text, pattern, most):
    tree = grown([text])
    for place in tree.places(pattern):
        guess = tree.guess(place, most, 0.0, branches=True)
        assert len(guess.token_ids) <= most
        assert guess.probs == sorted(guess.probs, reverse=True)
        assert all(parent < node for node, parent in enumerate(guess.parents))
        siblings = list(zip(guess.parents, guess.token_ids, strict=True))
        assert len(set(siblings)) == len(siblings)


def propose(proposer, prompt, context, k=8):
    proposer.reset(prompt, sampler())
    return proposer.propose(context, k)


def test_a_longer_match_may_be_continued_further():
    prompt = [1, 2, 3, 4, 5, 6, 7, 8]
    assert propose(Suffix(), prompt, [*prompt, 9, 1]).token_ids == (2,)
    draft = propose(Suffix(), prompt, [*prompt, 9, 1, 2, 3])
    assert (draft.token_ids, draft.matched_tokens) == ((4, 5, 6), 3)
    assert draft.probs == (1.0, 1.0, 1.0) and draft.distributions is None


def test_candidates_are_those_seen_more_often():
    prompt = [1, 2, 9, 1, 3, 9, 1, 2, 8, 1]
    draft = propose(Suffix(), prompt, prompt)
    assert draft.token_ids == (2,)
    assert draft.probs == pytest.approx((2 / 3,))


def test_earlier_answers_are_remembered_and_prompts_are_not():
    proposer = Suffix()
    propose(proposer, [1, 2, 3], [1, 2, 3, 20, 21, 22])
    assert propose(proposer, [5], [5, 21]).token_ids == (22,)
    assert propose(proposer, [5], [5, 2]).token_ids == ()


def test_the_oldest_answer_is_forgotten_first():
    proposer = Suffix(max_cached_requests=2)
    for first in (10, 20, 30):
        propose(proposer, [1], [1, first, first + 1])
    assert propose(proposer, [5], [5, 10]).token_ids == ()
    proposer = Suffix(max_cached_tokens=3)
    for first in (10, 20, 30):
        propose(proposer, [1], [1, first, first + 1])
    assert propose(proposer, [5], [5, 10]).token_ids == ()
    assert propose(proposer, [5], [5, 30]).token_ids == (31,)


def test_memory_is_measured():
    proposer = Suffix()
    propose(proposer, [1, 2, 3], [1, 2, 3, 4])
    before = proposer.extra_bytes().buffers
    proposer.propose([1, 2, 3, 4, *range(100, 200)], 4)
    assert proposer.extra_bytes().buffers > before + 100 * 2 * 56


@pytest.mark.parametrize("branches", [False, True])
@pytest.mark.parametrize("k", [1, 5])
def test_greedy_output_is_that_of_plain_decoding(k, branches):
    target = random_llama()
    proposer = Suffix(branches=branches)
    for prompt in ([5, 6, 7, 8, 5, 6], [5, 6, 9, 5, 6]):
        assert decode(target, proposer, prompt, 60, k) == decode(target, None, prompt, 60)
