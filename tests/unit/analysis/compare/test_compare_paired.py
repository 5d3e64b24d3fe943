"""Paired differences: by hand, swapped, injected, and pure noise at the stated rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from specviz.analysis.compare.paired import (
    BETTER,
    FIGURES,
    NO_DIFFERENCE,
    WITHIN_NOISE,
    WORSE,
    Change,
    changes,
    shared_prompts,
)

NAN = float("nan")
BY_NAME = {figure.name: figure for figure in FIGURES}


def request(prompt: str, **reported: Any) -> dict[str, Any]:
    """11 tokens in 5 steps: the first after 10 ms, the others within 100 ms."""
    return {
        "prompt_key": prompt,
        "conversation": reported.pop("conversation", prompt),
        "ttft_ms": 10.0,
        "tpot_ms": 10.0,
        "e2el_ms": 110.0,
        "output_tokens": 11.0,
        "num_steps": 5.0,
        "num_draft_tokens": 20.0,
        "num_accepted_tokens": 8.0,
        **reported,
    }


def frame(*requests: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(requests)


def prompts(number: int, **reported: Any) -> pd.DataFrame:
    return frame(*(request(f"p{place}", **reported) for place in range(number)))


def by_name(found: list[Change]) -> dict[str, Change]:
    return {change.figure.name: change for change in found}


def noisy(rng: np.random.Generator, number: int, factor: float = 1.0) -> pd.DataFrame:
    """Prompts of very different length, each timed with 5 % noise."""
    lengths = np.random.default_rng(1).integers(20, 400, number)
    decode_ms = lengths * 8.0 * factor * rng.normal(1.0, 0.05, number)
    return frame(
        *(
            request(
                f"p{place}", tpot_ms=decode_ms[place] / lengths[place], ttft_ms=20.0,
                e2el_ms=20.0 + decode_ms[place], output_tokens=lengths[place] + 1.0,
            )
            for place in range(number)
        )
    )  # fmt: skip


def test_every_figure_by_hand() -> None:
    reference = prompts(5)
    other = prompts(
        5, tpot_ms=5.0, e2el_ms=60.0, ttft_ms=10.0, num_steps=2.0, num_draft_tokens=10.0
    )
    found = by_name(changes(reference, other))
    reported = {
        name: (change.reference, change.other, change.verdict) for name, change in found.items()
    }
    assert reported["TPOT"] == (10.0, 5.0, BETTER)
    assert reported["E2E"] == (110.0, 60.0, BETTER)
    assert reported["TTFT"] == (10.0, 10.0, NO_DIFFERENCE)
    assert reported["Speed of one stream"] == (
        pytest.approx(100.0),
        pytest.approx(1100 / 6),
        BETTER,
    )
    assert reported["Acceptance rate"] == (0.4, 0.8, BETTER)
    assert reported["Tokens per step"] == (2.2, 5.5, BETTER)
    ends = (found["TPOT"].ratio, found["TPOT"].low, found["TPOT"].high)
    assert ends == pytest.approx((0.5, 0.5, 0.5))
    assert found["TPOT"].difference == -5.0


def test_totals_weigh_by_what_they_are_over() -> None:
    """8 of 20 and 30 of 30: 38 of 50, not the mean of 0.4 and 1."""
    one = frame(request("a"), request("b", num_draft_tokens=30.0, num_accepted_tokens=30.0))
    found = by_name(changes(one, one))
    assert found["Acceptance rate"].reference == 38 / 50


def test_repetitions_are_averaged_and_turns_are_summed() -> None:
    reference = frame(
        request("a", e2el_ms=100.0), request("a", e2el_ms=140.0),
        request("b", e2el_ms=50.0, conversation="a"),
    )  # fmt: skip
    found = by_name(changes(reference, reference))
    assert found["E2E"].prompts == 1
    assert found["E2E"].reference == (120.0 + 50.0) / 2


def test_only_shared_prompts_count_and_those_not_told_are_left_out() -> None:
    reference = frame(request("a"), request("b"), request("c", ttft_ms=NAN), request("x"))
    other = frame(request("c"), request("b"), request("a", ttft_ms=30.0), request("y"))
    ttft = by_name(changes(reference, other))["TTFT"]
    assert (ttft.reference, ttft.other, ttft.prompts, ttft.left_out) == (10.0, 20.0, 2, 1)
    assert changes(frame(request("x")), frame(request("y"))) == []


def test_end_to_end_counts_answers_of_one_length() -> None:
    reference = frame(request("a"), request("b"), request("c", output_tokens=NAN))
    other = frame(request("a", e2el_ms=55.0), request("b", output_tokens=5.0), request("c"))
    found = by_name(changes(reference, other))
    assert (found["E2E"].prompts, found["E2E"].left_out, found["E2E"].ratio) == (1, 2, 0.5)
    assert found["TPOT"].prompts == 3


def test_a_figure_that_one_of_them_has_not_got_is_left_out() -> None:
    plain = prompts(6, num_draft_tokens=0.0, num_accepted_tokens=0.0)
    assert "Acceptance rate" not in by_name(changes(plain, prompts(6)))
    nothing_accepted = prompts(6, num_accepted_tokens=0.0)
    change = by_name(changes(nothing_accepted, prompts(6)))["Acceptance rate"]
    assert (change.ratio, change.low, change.verdict) == (None, None, "not decided: no interval")


def test_with_itself_nothing_differs() -> None:
    one = noisy(np.random.default_rng(3), 12)
    found = changes(one, one)
    assert len(found) == len(FIGURES)
    assert {change.verdict for change in found} == {NO_DIFFERENCE}
    assert all(change.difference == 0 for change in found)


def test_swapped_runs_say_the_opposite() -> None:
    rng = np.random.default_rng(4)
    one, other = noisy(rng, 15), noisy(rng, 15, factor=0.8)
    forth, back = by_name(changes(one, other)), by_name(changes(other, one))
    for name in ("TPOT", "E2E", "Speed of one stream"):
        there, here = forth[name], back[name]
        assert there.difference == pytest.approx(-here.difference)
        assert there.ratio and here.ratio and here.low and here.high
        assert there.ratio == pytest.approx(1 / here.ratio)
        assert (there.low, there.high) == pytest.approx((1 / here.high, 1 / here.low), rel=0.01)
        assert (there.verdict, here.verdict) == (BETTER, WORSE)


def test_a_change_of_a_tenth_is_found_in_noise_of_a_twentieth() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        (change,) = changes(noisy(rng, 20), noisy(rng, 20, factor=1.1), (BY_NAME["TPOT"],))
        assert change.verdict == WORSE
        assert change.ratio == pytest.approx(1.1, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("number", [6, pytest.param(24, marks=pytest.mark.slow)])
@pytest.mark.parametrize("together", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_pure_noise_is_called_noise_in_about_95_of_100_cases(number: int, together: int) -> None:
    """Also where prompts share the slow moments of a block, 5 % of them."""
    rng = np.random.default_rng(6)
    called = 0
    for _ in range(60):
        blocks = np.arange(number) // together
        first, second = (
            noisy(rng, number).assign(block=[f"{name}{block}" for block in blocks]) for name in "ab"
        )
        for run in (first, second):
            slow = 1 + 0.05 * rng.normal(size=number)[blocks]
            run["tpot_ms"] *= slow
            run["e2el_ms"] = run["ttft_ms"] + (run["e2el_ms"] - run["ttft_ms"]) * slow
        (change,) = changes(first, second, (BY_NAME["TPOT"],))
        called += change.verdict.startswith(WITHIN_NOISE)
    assert 0.87 <= called / 60 <= 1.0


def test_what_repetitions_differ_by_widens_times_and_nothing_else() -> None:
    """Two repetitions apart by a tenth: runs at different times may be as well."""
    rng = np.random.default_rng(8)
    first, second = (
        pd.concat(
            [noisy(rng, 12, factor).assign(repetition=n) for n, factor in enumerate((1.0, 1.1))]
        )
        for _ in range(2)
    )
    widened = by_name(changes(first, second))
    once = by_name(changes(first.drop(columns="repetition"), second.drop(columns="repetition")))
    for name in ("TPOT", "TTFT"):
        assert widened[name].low is not None and once[name].low is not None
    assert widened["TPOT"].has_drift and not once["TPOT"].has_drift
    assert widened["TPOT"].low < once["TPOT"].low < once["TPOT"].high < widened["TPOT"].high
    assert widened["Acceptance rate"] == once["Acceptance rate"]


def test_an_interval_around_no_change_is_within_noise() -> None:
    rng = np.random.default_rng(0)
    (change,) = changes(noisy(rng, 20), noisy(rng, 20), (BY_NAME["TPOT"],))
    assert change.low is not None and change.high is not None
    assert change.low < 1.0 < change.high
    assert change.verdict.startswith(f"{WITHIN_NOISE}: not distinguishable; ")
    assert change.verdict.endswith(" more prompts would decide it")


def test_few_prompts_have_no_interval_and_say_so() -> None:
    slower = {"tpot_ms": 12.0}
    one = by_name(changes(prompts(1), prompts(1, **slower)))["TPOT"]
    assert (one.low, one.high, one.verdict) == (None, None, "not decided: 1 prompt, 5 needed")
    four = by_name(changes(prompts(4), prompts(4, **slower)))["TPOT"]
    assert (four.low, four.verdict) == (None, "not decided: 4 prompts, 5 needed")
    assert by_name(changes(prompts(5), prompts(5, **slower)))["TPOT"].verdict == WORSE


def test_shared_prompts_are_those_of_all_in_the_first_ones_order() -> None:
    frames = [frame(*map(request, keys)) for keys in ("cabc", "bca", "xcb")]
    assert shared_prompts(frames) == ["c", "b"]
    assert shared_prompts([]) == []
