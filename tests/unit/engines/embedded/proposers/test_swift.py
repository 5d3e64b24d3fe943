"""SWIFT: the search for what to skip, and decoding while it goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from specviz.engines.embedded.proposers.layer_search import (
    LayerSearch,
    SearchSettings,
    every_other,
    posterior,
)
from specviz.engines.embedded.proposers.self_draft import SelfDrafter
from specviz.engines.embedded.proposers.swift import Swift, SwiftSettings
from tests.support.embedded.random_models import decode, random_llama, rounds

PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]


def searching(layers=6, **changes):
    """A target, a proposer that drafts with it, and the cache they share."""
    target = random_llama(layers)
    cache = target.new_cache()
    settings = replace(SwiftSettings(window=12, confidence=0.0), **changes)
    return target, Swift(SelfDrafter(target, cache), settings), cache


@pytest.mark.parametrize("k", [1, 3, 5, 8])
def test_greedy_output_is_that_of_plain_decoding(k):
    target, proposer, cache = searching()
    done = rounds(target, proposer, PROMPT, k=k, length=80, cache=cache)
    emitted = [token for one, _ in done for token in one.token_ids][:80]
    assert emitted == decode(target, None, PROMPT, 80)


def test_the_cache_after_every_step_is_that_of_plain_decoding():
    target, proposer, cache = searching()
    text = PROMPT + decode(target, None, PROMPT, 80)
    plain = target.new_cache()
    with torch.inference_mode():
        target.forward(text, plain)
    for _, shared in rounds(target, proposer, PROMPT, k=3, length=60, cache=cache):
        end = shared.length
        assert torch.allclose(shared.keys[:, :, :end], plain.keys[:, :, :end], atol=1e-4)
        assert torch.allclose(shared.values[:, :, :end], plain.values[:, :, :end], atol=1e-4)


def test_the_set_changes_over_a_long_text_and_matches_no_worse():
    target, proposer, cache = searching()
    sets = []
    text = list(PROMPT)
    for done, _ in rounds(target, proposer, PROMPT, k=3, length=200, cache=cache):
        sets.append(done.draft.skipped_layers)
        text += done.token_ids
    assert sets[0] is None and sets[1] == every_other(6).skipped
    assert len(set(sets[1:])) > 1
    with torch.inference_mode():
        start, end = proposer._window
        drafter = proposer._drafter
        best = drafter.matchness(text, start, end, proposer.search.best)
        assert best == pytest.approx(proposer.search.best_score)
        assert best >= drafter.matchness(text, start, end, every_other(6))


def test_the_same_seed_searches_the_same_way():
    def sets(seed):
        search = SearchSettings(seed=seed)
        target, proposer, cache = searching(search=search)
        return [
            done.draft.skipped_layers
            for done, _ in rounds(target, proposer, PROMPT, k=3, length=100, cache=cache)
        ]

    assert sets(1) == sets(1)
    assert sets(1) != sets(2)


def test_the_next_request_begins_with_the_set_that_was_found():
    target, proposer, cache = searching()
    for _ in rounds(target, proposer, PROMPT, k=3, length=120, cache=cache):
        pass
    found = proposer.search.best.skipped
    again = rounds(target, proposer, PROMPT, k=3, length=4, cache=cache)
    assert [done.draft.skipped_layers for done, _ in again][1] == found


def test_nothing_is_tried_before_there_is_output_enough():
    target, proposer, cache = searching(window=1000)
    for _ in rounds(target, proposer, PROMPT, k=3, length=40, cache=cache):
        pass
    assert proposer.search.nbytes == 0


def test_drafting_stops_at_the_first_unsure_candidate():
    target, proposer, cache = searching(confidence=0.5)
    lengths = set()
    for done, _ in rounds(target, proposer, PROMPT, k=6, length=100, cache=cache):
        probs = done.draft.probs
        assert all(prob >= 0.5 for prob in probs[:-1])
        assert not probs or probs[-1] < 0.5 or len(probs) == 6
        lengths.add(len(probs))
    assert len(lengths) > 1


def test_a_search_finds_the_best_set_of_an_easy_problem():
    search = LayerSearch(8, SearchSettings(good_enough=0.99))
    wanted = (True, False, True, False, False, False, False, False, True, True, True, False)
    search.rate_best(0.0)
    scores = []
    while not search.done:
        point = search.suggest()
        score = sum(a == b for a, b in zip(point, wanted, strict=True)) / len(wanted)
        search.learn(point, score)
        scores.append(search.best_score)
    assert scores == sorted(scores)
    assert search.best_score > 0.8
    skipped = search.best.skipped
    assert len(skipped) == 5
    assert not {"attention 0", "mlp 0", "attention 7", "mlp 7"} & set(skipped)


def test_bayesian_steps_beat_random_ones_on_an_easy_problem():
    wanted = (True, False, True, False, False, False, False, False, True, True, True, False)

    def mean_score(interval):
        search = LayerSearch(8, SearchSettings(bayes_interval=interval, good_enough=2.0))
        scores = []
        for _ in range(40):
            point = search.suggest()
            scores.append(sum(a == b for a, b in zip(point, wanted, strict=True)) / len(wanted))
            search.learn(point, scores[-1])
        return sum(scores[20:]) / 20

    assert mean_score(1) > mean_score(1000) + 0.1


def test_a_search_ends_and_can_be_resumed():
    search = LayerSearch(4, SearchSettings())
    while not search.done:
        search.learn(search.suggest(), 0.1)
    search.resume()
    assert not search.done
    search.rate_best(0.96)
    assert search.done


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_model_with_nothing_to_skip_is_not_searched(layers):
    assert LayerSearch(layers, SearchSettings()).done


def test_the_posterior_goes_through_what_was_measured():
    tried = torch.eye(4, dtype=torch.float64)
    scores = torch.tensor([0.1, 0.5, 0.3, 0.9], dtype=torch.float64)
    mean, deviation = posterior(tried, scores, tried, scale=1.0, noise=1e-8)
    assert torch.allclose(mean, scores, atol=1e-6)
    assert float(deviation.max()) < 1e-3
    far = torch.full((1, 4), 100.0, dtype=torch.float64)
    mean, deviation = posterior(tried, scores, far, scale=1.0, noise=1e-8)
    assert float(mean) == pytest.approx(float(scores.mean()))
    assert float(deviation) == pytest.approx(float(scores.std(correction=0)))
