"""Temperature, top-k, top-p, and draws that are what they claim to be."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specviz.config import Sampling
from specviz.engines.embedded.sampler import Sampler, most_likely, nucleus
from tests.support.embedded.exactness import ALPHA, compare, joint_distribution
from tests.support.embedded.tiny_models import CPU

SAMPLES = 20_000
PROBS = torch.tensor([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])


def sampler(temperature: float = 1.0, *, top_p: float = 1.0, seed: int | None = 0) -> Sampler:
    return Sampler(Sampling(temperature=temperature, top_p=top_p, seed=seed), CPU)


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=30), st.floats(0.05, 1.0))
def test_nucleus_is_the_smallest_set_that_reaches_top_p(weights, top_p) -> None:
    probs = torch.tensor(weights, dtype=torch.float64)
    probs /= probs.sum()
    kept = nucleus(probs[None], top_p)[0]
    inside = kept > 0
    assert float(kept.sum()) == pytest.approx(1.0)
    assert float(probs[inside].sum()) >= top_p - 1e-9
    assert float(probs[inside].sum() - probs[inside].min()) < top_p
    if not inside.all():
        assert probs[inside].min() >= probs[~inside].max()
    assert torch.allclose(kept[inside], probs[inside] / probs[inside].sum())


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=30), st.integers(1, 40))
def test_top_k_keeps_that_many_of_the_most_likely(weights, top_k) -> None:
    probs = torch.tensor(weights, dtype=torch.float64)
    probs /= probs.sum()
    kept = most_likely(probs[None], top_k)[0]
    inside = kept > 0
    assert int(inside.sum()) == min(top_k, len(weights))
    assert float(kept.sum()) == pytest.approx(1.0)
    if not inside.all():
        assert probs[inside].min() >= probs[~inside].max()
    assert torch.allclose(kept[inside], probs[inside] / probs[inside].sum())


def test_top_p_is_taken_of_what_top_k_leaves() -> None:
    logits = PROBS.log()[None]
    alone = Sampler(Sampling(1.0, 0.45), CPU).probs(logits)[0]
    assert alone.nonzero().flatten().tolist() == [0, 1]
    both = Sampler(Sampling(1.0, 0.45, top_k=3), CPU).probs(logits)[0]
    assert both.nonzero().flatten().tolist() == [0]  # 0.4 is half of what three of them have
    assert Sampler(Sampling(1.0, 0.6, top_k=1), CPU).probs(logits)[0].tolist() == [1, 0, 0, 0, 0, 0]


def test_temperature_divides_the_logits() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.0]])
    assert torch.allclose(sampler(0.5).probs(logits), (logits * 2).softmax(-1))


def test_temperature_0_takes_the_best_and_believes_the_softmax() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.0]])
    assert sampler(0.0).draw(logits[0]) == 1
    assert torch.allclose(sampler(0.0, top_p=0.5).probs(logits), logits.softmax(-1))


def test_single_draws_follow_the_distribution() -> None:
    chosen = sampler(seed=5)
    counts = Counter((chosen.draw(PROBS),) for _ in range(SAMPLES))
    check = compare(counts, joint_distribution(lambda _: PROBS, len(PROBS), 1))
    assert check.passed, check


def test_draws_without_replacement_follow_one_after_the_other() -> None:
    """Both the pair and its order: the second is drawn from what the first left."""
    chosen = sampler(seed=6)

    def after(drawn):
        left = PROBS.clone()
        left[list(drawn)] = 0.0
        return left / left.sum()

    counts = Counter(tuple(chosen.draw_distinct(PROBS, 2)) for _ in range(SAMPLES))
    check = compare(counts, joint_distribution(after, len(PROBS), 2))
    assert check.passed, check
    assert check.p_value > ALPHA


def test_draws_without_replacement_end_where_nothing_is_left() -> None:
    assert sorted(sampler().draw_distinct(torch.tensor([0.5, 0.0, 0.5]), 3)) == [0, 2]


def test_uniform_numbers_are_above_0_and_at_most_1() -> None:
    chosen = sampler(seed=7)
    drawn = torch.tensor([chosen.uniform() for _ in range(SAMPLES)], dtype=torch.float64)
    assert drawn.min() > 0.0 and drawn.max() <= 1.0
    # the share below a is a: within five standard deviations at a = 0.1, ..., 0.9
    for tenth in range(1, 10):
        a = tenth / 10
        share = float((drawn <= a).double().mean())
        assert abs(share - a) < 5 * (a * (1 - a) / SAMPLES) ** 0.5


def test_seed_repeats_all_decisions() -> None:
    def decisions(seed):
        chosen = sampler(seed=seed)
        return [
            (chosen.draw(PROBS), chosen.uniform(), *chosen.draw_distinct(PROBS, 2))
            for _ in range(9)
        ]

    assert decisions(3) == decisions(3) != decisions(4)


def test_without_a_seed_every_request_is_different() -> None:
    first, second = sampler(seed=None), sampler(seed=None)
    assert [first.uniform() for _ in range(4)] != [second.uniform() for _ in range(4)]
