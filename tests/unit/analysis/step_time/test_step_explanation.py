"""The sentence says what the numbers say."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.step_time.explanation import (
    MAYBE_NOISE,
    NOT_TIMED,
    drafting_limit_ms,
    explain_step,
    explain_tokens,
)
from specviz.analysis.step_time.step_time import StepTime

SLOWER = StepTime(100, 1.8, 9.5, 9.5 / 1.8, 3.1, 0.0, 6.0, 0.4)
FASTER = StepTime(100, 3.0, 9.5, 9.5 / 3.0, 3.1, 0.0, 6.0, 0.4)
times = st.floats(0.05, 50)


def test_slower_says_what_drafting_may_take() -> None:
    assert explain_step(SLOWER, 4.5) == (
        "Each step drafts for 3.10 ms, verifies for 6.00 ms and spends 0.400 ms on everything "
        "else; plain decoding takes 4.50 ms a token. At 1.80 tokens a step that is 5.28 ms a "
        "token: slower. Drafting would have to take less than 1.70 ms a step, or a step give "
        "more than 2.11 tokens."
    )


def test_faster_says_how_far() -> None:
    text = explain_step(FASTER, 4.5)
    assert text.endswith(
        "At 3.00 tokens a step that is 3.17 ms a token: faster. It would stay faster up to 7.10 ms "
        "of drafting a step, or down to 2.11 tokens a step."
    )


def test_verification_alone_may_be_too_slow() -> None:
    text = explain_step(SLOWER, 3.0)
    assert "It would be slower without any drafting time" in text and "3.17 tokens" in text


def test_drafting_beside_verification_is_said_apart() -> None:
    text = explain_step(replace(FASTER, draft_ms=0.5, overlapped_draft_ms=2.6), 4.5)
    assert "drafts for 0.500 ms and for 2.60 ms more while the target verifies, verifies" in text


def test_without_parts_there_is_no_limit_of_drafting() -> None:
    whole = replace(SLOWER, draft_ms=None, overlapped_draft_ms=None, verify_ms=None, other_ms=None)
    text = explain_step(whole, 4.5)
    assert "Each step takes 9.50 ms (how much of it is drafting is not known)" in text
    assert text.endswith("slower. A step would have to give more than 2.11 tokens.")


def test_without_plain_decoding_nothing_is_compared() -> None:
    text = explain_step(SLOWER)
    assert "slower" not in text and "plain" not in text and text.endswith("5.28 ms a token.")


def test_plain_decoding_is_described() -> None:
    plain = StepTime(100, 1.0, 4.5, 4.5, 0.0, 0.0, 4.2, 0.3)
    assert explain_step(plain, drafts=False) == (
        "Plain decoding takes 4.50 ms a token: 4.20 ms for the target's pass and 0.300 ms for "
        "everything else."
    )


def test_what_may_be_noise_says_so() -> None:
    assert f"slower{MAYBE_NOISE}." in explain_step(SLOWER, 4.5, decided=False)


def test_a_server_that_times_tokens_only() -> None:
    assert explain_tokens(5.1, 1.8, 4.5) == (
        "A token takes 5.10 ms, 4.50 ms in plain decoding: slower. A step that drafts gives 1.80 "
        f"tokens. {NOT_TIMED}"
    )
    assert explain_tokens(5.1, None) == f"A token takes 5.10 ms. {NOT_TIMED}"


@given(times, times, times, st.floats(1, 16), times)
def test_the_sentence_agrees_with_the_numbers(
    draft: float, verify: float, other: float, tokens: float, plain: float
) -> None:
    step = draft + verify + other
    found = StepTime(10, tokens, step, step / tokens, draft, 0.0, verify, other)
    text = explain_step(found, plain)
    limit = drafting_limit_ms(found, plain)
    assert limit is not None
    named = [float(number.replace(",", "")) for number in re.findall(r"[\d,]*\d\.?\d*", text)]
    near = dict(rel=6e-3, abs=6e-4)  # three significant digits
    expected = [draft, verify, other, plain, tokens, step / tokens]
    assert named[:6] == pytest.approx(expected, **near)
    if "no faster and no slower" in text:
        assert step / tokens == pytest.approx(plain, rel=0.02, abs=2e-3) and len(named) == 6
        return
    slower = step / tokens > plain
    assert (": slower." in text) == slower and (": faster." in text) == (not slower)
    limits = ([limit] if limit > 0 else []) + [step / plain]
    assert named[6:] == pytest.approx(limits, **near)


@given(times, times, times, st.floats(1, 16), times)
def test_at_the_limit_it_is_as_fast_as_plain_decoding(
    draft: float, verify: float, other: float, tokens: float, plain: float
) -> None:
    step = draft + verify + other
    found = StepTime(10, tokens, step, step / tokens, draft, 0.0, verify, other)
    limit = drafting_limit_ms(found, plain)
    assert limit is not None
    assert (limit + verify + other) / tokens == pytest.approx(plain)
    assert step / (step / plain) == pytest.approx(plain)
