"""Prompt lookup against a search of the whole context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.engines.embedded.proposers.ngram import Ngram
from tests.support.embedded.random_models import decode, random_llama, sampler


def looked_up(context: list[int], k: int, shortest: int, longest: int) -> tuple[int, list[int]]:
    """vLLM's rule, the slow way: the longest n-gram seen before, its earliest occurrence."""
    for n in range(min(longest, len(context) - 1), shortest - 1, -1):
        for start in range(len(context) - n):
            if context[start : start + n] == context[-n:]:
                return n, context[start + n : start + n + k]
    return 0, []


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=60),
    st.integers(1, 8),
    st.integers(1, 3),
    st.integers(0, 2),
    st.data(),
)
def test_drafts_what_followed_the_earliest_of_the_longest_matches(context, k, shortest, more, data):
    proposer = Ngram(shortest, shortest + more)
    proposer.reset(context[:1], sampler())
    end = 1
    while end <= len(context):
        draft = proposer.propose(context[:end], k)
        expected = looked_up(context[:end], k, shortest, shortest + more)
        assert (draft.matched_tokens, list(draft.token_ids)) == expected
        end += data.draw(st.integers(1, 6))


@pytest.mark.slow
def test_agrees_with_vllm():
    proposer_module = pytest.importorskip("vllm.v1.spec_decode.ngram_proposer")
    import numpy as np

    find = proposer_module._find_longest_matched_ngram_and_propose_tokens.py_func
    generator = np.random.default_rng(0)
    for _ in range(50):
        context = generator.integers(0, 4, size=30).astype(np.int32)
        proposer = Ngram()
        proposer.reset((), sampler())
        theirs = find(context, 1, 3, 1000, 5)
        assert list(proposer.propose(context.tolist(), 5).token_ids) == theirs.tolist()


def test_nothing_seen_before_drafts_nothing():
    proposer = Ngram()
    proposer.reset([1, 2, 3], sampler())
    draft = proposer.propose([1, 2, 3, 4], 5)
    assert (draft.token_ids, draft.matched_tokens) == ((), 0)


def test_a_new_request_forgets_the_last_one():
    proposer = Ngram()
    proposer.reset([1, 2, 1], sampler())
    assert proposer.propose([1, 2, 1], 1).token_ids == (2,)
    proposer.reset([3], sampler())
    assert proposer.propose([3, 1], 1).token_ids == ()


def test_candidates_are_certain_and_picked():
    proposer = Ngram()
    proposer.reset([1, 2, 3], sampler(1.0))
    draft = proposer.propose([1, 2, 3, 1], 2)
    assert (draft.token_ids, draft.probs, draft.distributions) == ((2, 3), (1.0, 1.0), None)
    assert proposer.extra_bytes().buffers > 0


@pytest.mark.parametrize("k", [1, 3, 8])
def test_greedy_output_is_that_of_plain_decoding(k):
    target = random_llama()
    prompt = [5, 6, 7, 8, 5, 6]
    assert decode(target, Ngram(), prompt, 80, k) == decode(target, None, prompt, 80)
