"""Mirror: drafts made beside the verification, and the same as those made after it."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest
import torch

from specviz.engines.embedded.decode import Decoder
from specviz.engines.embedded.proposers.mirror import Mirror
from specviz.engines.embedded.proposers.side_thread import IDLE_S, SideThread
from tests.support.embedded.random_models import CPU, decode, random_llama, rounds, sampler

PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]


class SlowMirror(Mirror):
    """One whose target, from the watched layer on, takes as long as the side thread needs."""

    def _seen(self, x):
        super()._seen(x)
        if self._judged is not None:
            self._side.wait()


def models():
    """A target and a draft model that agrees with it now and then."""
    target = random_llama(4, vocabulary=12)
    draft = random_llama(1, vocabulary=12)  # the target's embeddings and first layer
    return target, draft


def run(proposer, target, *, k=3, length=60, temperature=0.0, seed=0):
    return [
        done
        for done, _ in rounds(
            target, proposer, PROMPT, k=k, length=length, temperature=temperature, seed=seed
        )
    ]


def tokens(done):
    return [token for one in done for token in one.token_ids]


@pytest.mark.parametrize("mirror", [Mirror, SlowMirror])
@pytest.mark.parametrize("k", [1, 3, 5, 8])
def test_greedy_output_is_that_of_plain_decoding(k, mirror):
    target, draft = models()
    emitted = tokens(run(mirror(target, draft), target, k=k))[:60]
    assert emitted == decode(target, None, PROMPT, 60)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_drafts_made_ahead_are_those_that_would_be_made_afterwards(temperature):
    target, draft = models()
    ahead = run(SlowMirror(target, draft), target, temperature=temperature, length=120)
    afterwards = run(Mirror(target, draft, branches=0), target, temperature=temperature, length=120)
    assert [one.draft.token_ids for one in ahead] == [one.draft.token_ids for one in afterwards]
    assert tokens(ahead) == tokens(afterwards)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_foretold_outcomes_have_their_draft_ready(temperature):
    target, draft = models()
    proposer = SlowMirror(target, draft)
    made = []
    chain = proposer._chain
    proposer._chain = lambda context: made.append(threading.current_thread()) or chain(context)
    done = run(proposer, target, length=120, temperature=temperature)
    afterwards = sum(thread is threading.main_thread() for thread in made)
    assert 1 <= afterwards < len(done) - 1


def test_no_outcome_is_followed_twice_and_none_is_impossible():
    target, draft = models()
    proposer = SlowMirror(target, draft, branches=8)
    judged = []
    outlooks = proposer._outlooks

    def spied(x, chain):
        found = outlooks(x, chain)
        judged.append((list(chain.token_ids), found))
        return found

    proposer._outlooks = spied
    run(proposer, target)
    assert judged
    for drafted, found in judged:
        assert len(set(found)) == len(found)
        for accepted, token in found:
            assert accepted == len(drafted) or drafted[accepted] != token


def test_drafting_overlaps_with_verification():
    target, draft = models()
    done = run(SlowMirror(target, draft), target)
    for verified, drafted in pairwise(done[1:]):
        ((began, ended),) = drafted.draft.drafted_at
        assert verified.drafted < began < ended < verified.ended


def test_work_ahead_ends_when_the_draft_is_asked_for():
    target, draft = models()
    for one in run(Mirror(target, draft), target):
        for began, ended in one.draft.drafted_at:
            assert began < ended <= one.drafted


def test_the_first_draft_has_nothing_ahead():
    target, draft = models()
    assert run(SlowMirror(target, draft), target)[1].draft.drafted_at == ()


def test_sampled_candidates_come_from_their_distributions():
    target, draft = models()
    for one in run(SlowMirror(target, draft), target, temperature=0.8):
        if one.draft.token_ids:
            chosen = one.draft.distributions[range(len(one.draft.token_ids)), one.draft.token_ids]
            assert chosen.tolist() == pytest.approx(list(one.draft.probs))


def test_the_cache_after_every_step_is_that_of_plain_decoding():
    target, draft = models()
    text = PROMPT + decode(target, None, PROMPT, 60)
    plain = target.new_cache()
    target.forward(text, plain)
    for _, cache in rounds(target, Mirror(target, draft), PROMPT, k=3, length=40):
        end = cache.length
        assert torch.allclose(cache.keys[:, :, :end], plain.keys[:, :, :end], atol=1e-4)


def side_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "embedded-side"]


def test_the_number_of_threads_is_restored_and_none_is_left_behind():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        target, draft = models()
        stream = Decoder(target, Mirror(target, draft)).rounds(PROMPT, sampler(), 4)
        for _ in range(6):
            next(stream)
            assert torch.get_num_threads() == 2
        del stream  # the consumer stops early
        deadline = time.monotonic() + 20 + IDLE_S
        while side_threads() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not side_threads()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_a_dropped_request_does_not_disturb_the_next():
    target, draft = models()
    decoder = Decoder(target, Mirror(target, draft))
    for steps in (1, 2, 3):
        stream = decoder.rounds([7, 7, 2], sampler(), 4)
        for _ in range(steps):
            next(stream)
    emitted = [
        t
        for one, _ in zip(decoder.rounds(PROMPT, sampler(), 4), range(12), strict=False)
        for t in one.token_ids
    ]
    assert emitted == decode(target, None, PROMPT, len(emitted))


def test_the_end_of_the_positions_is_not_overrun():
    _, draft = models()
    short = random_llama(4, vocabulary=12, max_positions=24)
    proposer = SlowMirror(short, draft)
    stream = Decoder(short, proposer).rounds(PROMPT, sampler(), 5)
    emitted = 0
    while emitted < 24 - len(PROMPT) - 1:
        emitted += len(next(stream).token_ids)


def test_memory_is_that_of_the_draft_model_and_its_cache():
    target, draft = models()
    extra = Mirror(target, draft).extra_bytes()
    assert (extra.weights, extra.kv_cache) == (draft.nbytes, draft.new_cache().nbytes)


def test_a_failing_job_fails_whoever_waits_and_not_the_next():
    side = SideThread(CPU)
    side.submit(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        side.wait()
    done = threading.Event()
    side.submit(done.set)
    side.wait()
    assert done.is_set()
    side.wait()  # nothing to wait for
