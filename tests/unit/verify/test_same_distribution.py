"""The permutation test keeps its level under one distribution, and notices another one."""

from __future__ import annotations

import numpy as np
import pytest

from specviz.verify import same_distribution as module
from specviz.verify.same_distribution import ALPHA, Asked, same_distribution

TOKENS, LENGTH, ANSWERS, PROMPTS = 12, 6, 24, 5


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TRIALS", 40)


def drawn(
    rng: np.random.Generator, weights: np.ndarray, greedy_share: float = 0.0
) -> list[list[int]]:
    answers = rng.choice(TOKENS, p=weights, size=(ANSWERS, LENGTH))
    answers[rng.random(ANSWERS) < greedy_share] = weights.argmax()
    return [answer.tolist() for answer in answers]


def asked(seed: int, greedy_share: float = 0.0) -> list[Asked]:
    rng = np.random.default_rng(seed)
    weights = [rng.dirichlet(np.ones(TOKENS)) for _ in range(PROMPTS)]
    return [
        Asked(drawn(rng, one), drawn(rng, one, greedy_share), [int(one.argmax())] * LENGTH)
        for one in weights
    ]


def test_p_values_are_uniform_under_one_distribution() -> None:
    """Of 30 tests, about as many are below 0.25 and 0.5 as should be (4 sigma)."""
    p_values = np.array([same_distribution(asked(seed)).p_value for seed in range(30)])
    for level in (0.25, 0.5):
        assert abs((p_values <= level).mean() - level) < 4 * np.sqrt(level * (1 - level) / 30)
    assert (p_values < ALPHA).sum() <= 1


def test_a_server_that_is_partly_greedy_is_noticed_as_often_as_promised() -> None:
    promised = same_distribution(asked(1)).noticed_share
    assert promised is not None
    assert promised < 1.0
    noticed = [same_distribution(asked(seed, promised)).differs for seed in range(10)]
    assert np.mean(noticed) > 0.6
    assert same_distribution(asked(3, 1.0)).differs


def test_another_temperature_is_noticed_in_most_tests() -> None:
    """Drawn at a temperature of 2 instead of 1, from what a model is mostly sure of."""
    rng = np.random.default_rng(4)
    noticed = []
    for _ in range(10):
        weights = [rng.dirichlet(np.full(TOKENS, 0.15)) + 1e-9 for _ in range(PROMPTS)]
        prompts = [
            Asked(
                drawn(rng, one / one.sum()),
                drawn(rng, np.sqrt(one) / np.sqrt(one).sum()),
                [int(one.argmax())] * LENGTH,
            )
            for one in weights
        ]
        noticed.append(same_distribution(prompts).differs)
    assert np.mean(noticed) > 0.5


def test_the_order_of_answers_says_nothing_and_lengths_may_differ() -> None:
    one = Asked([[1, 2], [3], [], [1, 2, 3]], [[], [1, 2, 3], [1, 2], [3]], [1, 2])
    found = same_distribution([one])
    assert found.p_value == 1.0
    assert not found.differs
    assert found.answers == 4
