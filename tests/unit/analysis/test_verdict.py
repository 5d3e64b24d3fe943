"""Verdicts in words, and how many more prompts would decide a comparison."""

from __future__ import annotations

import numpy as np
import pytest

from specviz.analysis.benchmark.results import Speedup
from specviz.analysis.verdict import Verdict, gain_text, more_prompts, undecided_text, verdict_of


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.01, 1.2, Verdict.FASTER),
        (0.8, 0.99, Verdict.SLOWER),
        (0.9, 1.1, Verdict.UNDECIDED),
        (1.0, 1.2, Verdict.UNDECIDED),
        (None, None, Verdict.UNDECIDED),
    ],
)
def test_an_interval_that_holds_one_decides_nothing(
    low: float | None, high: float | None, verdict: Verdict
) -> None:
    assert verdict_of(low, high) is verdict
    assert Speedup(1.1, low, high, 12, 0, "time").verdict is verdict


def test_that_many_more_prompts_do_decide_it() -> None:
    """A true gain of 8 %, noise of a fifth per prompt: most runs with so many find it."""
    rng = np.random.default_rng(1)
    error = 0.2 / 20**0.5
    more = more_prompts(1.08, 1.08 * np.exp(-2.09 * error), 1.08 * np.exp(2.09 * error), 20, 19.0)
    assert more is not None and 30 <= more <= 50
    total = 20 + more
    found = rng.normal(np.log(1.08), 0.2, (4000, total))
    t = found.mean(axis=1) / (found.std(axis=1, ddof=1) / total**0.5)
    assert 0.75 <= (t > 2.0).mean() <= 0.92


def test_a_decided_one_needs_none_and_a_hopeless_one_is_bounded() -> None:
    assert more_prompts(1.5, 1.2, 1.8, 12, 11.0) == 0
    assert more_prompts(1.0001, 0.8, 1.25, 12, 11.0) is None
    assert more_prompts(1.0, 0.8, 1.25, 12, 11.0) is None
    hopeless = "not distinguishable; more than 1,000 more prompts would decide it"
    assert undecided_text(None) == hopeless
    assert undecided_text(40) == "not distinguishable; about 40 more prompts would decide it"


def test_a_speed_up_says_what_it_is_worth() -> None:
    wide = Speedup(1.13, 0.19, 7.10, 6, 0, "time", 6, None)
    assert wide.with_verdict.startswith("1.13× (0.19 to 7.10), not distinguishable")
    assert Speedup(2.0, None, None, 3, 0, "time").verdict_text == "not decided: 3 prompts, 5 needed"


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ((1.52, 1.32, 1.74), "1.52× faster output (1.32 to 1.74)"),
        ((0.8, 0.71, 0.9), "0.80× output speed (0.71 to 0.90)"),
        ((1.02, 0.94, 1.12), "0.94× to 1.12× output speed (estimate 1.02×)"),
        ((1.13, None, None), "1.13× output speed, no interval"),
    ],
)
def test_a_headline_has_a_label_and_an_interval(figures: tuple, text: str) -> None:
    assert gain_text(*figures) == text
