"""Self-speculation on the target's own cache, with a fixed set of sublayers."""

from __future__ import annotations

import pytest
import torch

from specviz.engines.embedded.model import Sublayers
from specviz.engines.embedded.proposers.chain_builder import ChainBuilder
from specviz.engines.embedded.proposers.layer_skip import LayerSkip
from specviz.engines.embedded.proposers.self_draft import SelfDrafter
from tests.support.embedded.random_models import decode, random_llama, rounds, sampler

PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]
NOTHING_SKIPPED = Sublayers((True,) * 4, (True,) * 4)


SOME_SKIPPED = Sublayers((True, True, False, True), (True, False, True, True))


def skipping(run=SOME_SKIPPED):
    """A target, a proposer that drafts with it, and the cache they share."""
    target = random_llama()
    cache = target.new_cache()
    return target, LayerSkip(SelfDrafter(target, cache), run), cache


@pytest.mark.parametrize("k", [1, 3, 5])
def test_with_nothing_skipped_everything_is_accepted(k):
    target, proposer, cache = skipping(NOTHING_SKIPPED)
    for done, _ in rounds(target, proposer, PROMPT, k=k, length=40, cache=cache):
        assert len(done.verified.path) == len(done.draft.token_ids)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_with_nothing_skipped_the_target_is_sampled_from_itself(temperature):
    target, proposer, cache = skipping(NOTHING_SKIPPED)
    for done, _ in rounds(
        target, proposer, PROMPT, k=4, length=40, temperature=temperature, cache=cache
    ):
        accepted = [one.accept_prob for one in done.verified.judgements]
        assert accepted == pytest.approx([1.0] * len(accepted), abs=1e-3)


@pytest.mark.parametrize("k", [1, 3, 5, 8])
def test_greedy_output_is_that_of_plain_decoding(k):
    target, proposer, cache = skipping()
    done = rounds(target, proposer, PROMPT, k=k, length=60, cache=cache)
    emitted = [token for one, _ in done for token in one.token_ids][:60]
    assert emitted == decode(target, None, PROMPT, 60)


def test_the_cache_after_every_step_is_that_of_plain_decoding():
    target, proposer, cache = skipping()
    text = PROMPT + decode(target, None, PROMPT, 60)
    plain = target.new_cache()
    with torch.inference_mode():
        target.forward(text, plain)
    for _, shared in rounds(target, proposer, PROMPT, k=4, length=40, cache=cache):
        end = shared.length
        assert torch.allclose(shared.keys[:, :, :end], plain.keys[:, :, :end], atol=1e-5)
        assert torch.allclose(shared.values[:, :, :end], plain.values[:, :, :end], atol=1e-5)


def test_drafts_do_not_depend_on_what_the_cache_held_before():
    """Rows that skipped sublayers did not write are never read."""
    target, proposer, cache = skipping()
    first = [
        done.draft for done, _ in rounds(target, proposer, PROMPT, k=4, length=40, cache=cache)
    ]
    cache.keys.fill_(1e4)
    cache.values.fill_(-1e4)
    again = [
        done.draft for done, _ in rounds(target, proposer, PROMPT, k=4, length=40, cache=cache)
    ]
    assert [draft.token_ids for draft in again] == [draft.token_ids for draft in first]


def test_a_draft_is_that_of_a_model_without_the_sublayers():
    target = random_llama()
    run = Sublayers((True, False, True, True), (True, True, False, True))
    cache = target.new_cache()
    with torch.inference_mode():
        target.forward(PROMPT[:-1], cache)
        draft = SelfDrafter(target, cache).chain(PROMPT, 3, run, ChainBuilder(sampler()))
        assert cache.length == len(PROMPT) - 1
        text = list(PROMPT)
        for token, prob in zip(draft.token_ids, draft.probs, strict=True):
            fresh = target.new_cache()
            target.forward(PROMPT[:-1], fresh)  # the context as verification left it
            logits = target.forward(text[len(PROMPT) - 1 :], fresh, run=run).logits[-1]
            assert int(logits.argmax()) == token
            assert float(logits.softmax(-1).max()) == pytest.approx(prob, abs=1e-4)
            text.append(token)
    assert draft.skipped_layers == ("attention 1", "mlp 2")


def test_matchness_counts_agreements_and_leaves_the_cache_alone():
    target = random_llama()
    text = PROMPT + decode(target, None, PROMPT, 30)
    cache = target.new_cache()
    run = Sublayers((True, False, True, True), (True,) * 4)
    with torch.inference_mode():
        target.forward(text[:-1], cache)
        keys, values = cache.keys.clone(), cache.values.clone()
        drafter = SelfDrafter(target, cache)
        start, end = len(PROMPT) + 5, len(text) - 3
        assert drafter.matchness(text, start, end, NOTHING_SKIPPED) == 1.0
        score = drafter.matchness(text, start, end, run)
        assert cache.length == len(text) - 1
        assert torch.equal(cache.keys, keys) and torch.equal(cache.values, values)
        fresh = target.new_cache()
        target.forward(text[: start - 1], fresh)
        picked = target.forward(text[start - 1 : end - 1], fresh, run=run).logits.argmax(-1)
    hits = sum(a == b for a, b in zip(picked.tolist(), text[start:end], strict=True))
    assert score == pytest.approx(hits / (end - start))


def test_sampled_candidates_come_from_their_distributions():
    target, proposer, cache = skipping()
    for done, _ in rounds(target, proposer, PROMPT, k=3, length=20, temperature=1.0, cache=cache):
        draft = done.draft
        if draft.token_ids:
            assert draft.distributions.shape == (len(draft.token_ids), 40)
            chosen = draft.distributions[range(len(draft.token_ids)), draft.token_ids]
            assert chosen.tolist() == pytest.approx(list(draft.probs))


def test_no_memory_beyond_plain_decoding():
    _, proposer, _ = skipping()
    assert proposer.extra_bytes().total == 0
