"""Smaller Ks from one run: exact where that can be, close where the run is cut short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.interval import student_quantile
from specviz.analysis.k.answers import Answer, by_key, drafting_step, step_ms
from specviz.analysis.k.own_error import steps_error
from specviz.analysis.k.predict import Estimate, predict
from specviz.analysis.k.redraft import Redraft
from specviz.analysis.k.step_cost import StepCost, fit_step_cost
from specviz.analysis.theory import theory
from tests.support.analysis.k_answers import Price, independent, redrafts, timed

LARGEST = 15
PRICE = Price()
FLAT = StepCost(10.0, 0.0, None, "made up")
LENGTHS = [20 + 7 * (index % 30) for index in range(150)]


def run_of(answers: list[Redraft], k: int, price: Price = PRICE) -> list[Answer]:
    return [timed(index, answer, k, price) for index, answer in enumerate(answers)]


def cost_of(price: Price, ks: tuple[int, ...] = (0, 1, 8, 15), slower: float = 1.0) -> StepCost:
    return fit_step_cost({float(k): slower * price.step(k) for k in ks}, "made up")


def length_of(run: list[Answer]) -> float:
    return 1 + sum(sum(a.accepted) for a in run) / sum(len(a.drafted) for a in run)


def speedup_of(plain: list[Answer], run: list[Answer]) -> float:
    return sum(a.e2el_ms for a in plain) / sum(a.e2el_ms for a in run)


@pytest.fixture(scope="module", params=[0.4, 0.8])
def drawn(request: pytest.FixtureRequest) -> tuple[float, list[Redraft]]:
    return request.param, independent(request.param, LARGEST, LENGTHS)


def test_a_run_cut_short_is_the_formula_and_a_run_of_its_own(drawn) -> None:
    alpha, answers = drawn
    run, plain = run_of(answers, LARGEST), run_of(answers, 0)
    others = run_of(independent(alpha, LARGEST, LENGTHS, seed=2), 5)
    reported = predict(run, by_key(plain), cost_of(PRICE), range(1, LARGEST + 1))
    assert [found.k for found in reported] == [*range(1, LARGEST + 1)]
    for found in reported:
        again = run_of(answers, found.k)
        assert found.mean_acceptance_length.value == pytest.approx(
            theory.expected_tokens(alpha, found.k), rel=0.03
        )
        assert found.mean_acceptance_length.value == pytest.approx(length_of(again), rel=0.02)
        assert found.draft_acceptance_rate.value == pytest.approx(
            (length_of(again) - 1) / found.k, rel=0.04
        )
        assert found.speedup is not None
        assert found.speedup.value == pytest.approx(speedup_of(plain, again), rel=0.025)
        assert found.tpot_ms.value == pytest.approx(_tpot(again), rel=0.025)
    assert reported[4].mean_acceptance_length.value == pytest.approx(length_of(others), rel=0.03)


def _tpot(run: list[Answer]) -> float:
    return sum(a.e2el_ms - a.ttft_ms for a in run) / sum(a.output_tokens - 1 for a in run)


@pytest.mark.parametrize("slower", [1.0, 1.7])
def test_a_redraft_is_the_run_of_every_k_even_on_a_slower_machine(drawn, slower: float) -> None:
    """The machine of the redraft tells how step times bend, the run how long they are."""
    _, answers = drawn
    run, plain = run_of(answers, LARGEST), run_of(answers, 0)
    redrafts = {(index, 0): answer for index, answer in enumerate(answers)}
    cost = cost_of(PRICE, slower=slower)
    ks = range(1, LARGEST + 1)
    for found in predict(run, by_key(plain), cost, ks, redrafts):
        again = run_of(answers, found.k)
        assert found.mean_acceptance_length.value == pytest.approx(length_of(again))
        assert found.draft_acceptance_rate.value == pytest.approx((length_of(again) - 1) / found.k)
        assert found.tpot_ms.value == pytest.approx(_tpot(again))
        assert found.speedup is not None
        assert found.speedup.value == pytest.approx(speedup_of(plain, again))


@pytest.mark.parametrize(("length", "rel"), [(16, 0.04), (40, 0.03)])
def test_short_answers_are_no_harder(length: int, rel: float) -> None:
    """The last step of a large K goes far beyond the end, that of a small one does not."""
    answers = independent(0.8, LARGEST, [length] * (12_000 // length))
    run, plain = run_of(answers, LARGEST), run_of(answers, 0)
    for found in predict(run, by_key(plain), cost_of(PRICE), [1, 3, 8]):
        again = run_of(answers, found.k)
        assert found.speedup is not None
        assert found.speedup.value == pytest.approx(speedup_of(plain, again), rel=rel)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_steps_of_a_lookup_without_a_draft_do_not_pay_for_drafting(share: float) -> None:
    """Only those that found something cost 12 ms and more, the others 10."""
    random = np.random.default_rng(3)

    def lookup(answer: Redraft) -> Redraft:
        found = random.random(len(answer.drafted)) < share
        pairs = zip(answer.matched, found, strict=True)
        drafted = tuple(LARGEST * int(one) for one in found)
        return replace(answer, drafted=drafted, matched=tuple(m * int(one) for m, one in pairs))

    answers = [lookup(answer) for answer in independent(0.8, LARGEST, LENGTHS[:30])]
    run, plain = run_of(answers, LARGEST), run_of(answers, 0)
    redrafts = {(index, 0): answer for index, answer in enumerate(answers)}
    for found in predict(run, by_key(plain), cost_of(PRICE), [1, 3, 8, LARGEST], redrafts):
        assert found.speedup is not None
        assert found.speedup.value == pytest.approx(speedup_of(plain, run_of(answers, found.k)))


def test_a_line_through_two_points_leaves_out_the_price_of_drafting_at_all(drawn) -> None:
    """10 ms plain and 27 at K = 15 make 11.13 ms at K = 1; in truth it is 13."""
    _, answers = drawn
    run, plain = run_of(answers, LARGEST), run_of(answers, 0)
    redrafts = {(index, 0): answer for index, answer in enumerate(answers)}
    line = fit_step_cost({0.0: 10.0, 15.0: 27.0}, "two points")
    (found,) = predict(run, by_key(plain), line, [1], redrafts)
    again = run_of(answers, 1)
    first = sum(a.ttft_ms for a in again)
    guessed = sum(a.num_steps for a in again) * (10 + 17 / 15)
    expected = sum(a.e2el_ms for a in plain) / (first + guessed)
    assert found.speedup is not None and found.speedup.low is not None
    assert found.speedup.value == pytest.approx(expected)
    assert found.speedup.value > 1.1 * speedup_of(plain, again)
    assert found.speedup.low < speedup_of(plain, again), "the interval knows of the price"
    two = replace(line, one_k=False)
    (narrow,) = predict(run, by_key(plain), two, [1], redrafts)
    assert narrow.speedup is not None and narrow.speedup.low is not None
    assert found.speedup.low < narrow.speedup.low


lookup = redrafts(k=6).filter(lambda answer: any(timed(0, answer, 6, PRICE).drafted))
lookups = st.lists(lookup, min_size=1, max_size=8)


@given(lookups, st.booleans(), st.sampled_from([(0, 6), (0, 1, 6), (1, 6)]), st.randoms())
def test_its_own_k_is_what_was_measured(answers, redrafted, timed_ks, random) -> None:
    run = [
        replace(answer, e2el_ms=answer.e2el_ms * random.uniform(0.5, 2))
        for answer in run_of(answers, 6)
    ]
    plain = run_of(answers, 0)
    redrafts = {(index, 0): answer for index, answer in enumerate(answers)} if redrafted else None
    (found,) = predict(run, by_key(plain), cost_of(PRICE, timed_ks), [6], redrafts)
    assert found.mean_acceptance_length.value == pytest.approx(length_of(run))
    drafted = sum(sum(answer.drafted) for answer in run)
    assert found.draft_acceptance_rate.value == pytest.approx(
        sum(sum(a.accepted) for a in run) / drafted
    )
    assert found.tpot_ms.value == pytest.approx(_tpot(run))
    assert found.speedup is not None
    assert found.speedup.value == pytest.approx(speedup_of(plain, run))


CUT_STEPS = 4 * 8 / 6


def test_steps_that_found_nothing_to_draft_gave_a_token_each() -> None:
    """9 tokens: the first, 2 steps that covered 4 and 2, and 2 that covered one each. At K = 1 the
    drafts cover 2 each, so that 4 steps cover 6 of the 8 tokens."""
    answer = Answer((0, 0), None, 9, 5.0, 45.0, drafted=(3, 3), accepted=(3, 1))
    assert (answer.num_undrafted, answer.num_steps) == (2, 4)
    (found,) = predict([answer], {}, FLAT, [1])
    assert found.mean_acceptance_length.value == 2.0
    assert found.draft_acceptance_rate.value == 1.0
    assert found.tpot_ms.value == pytest.approx(CUT_STEPS * 10 / 8)
    assert found.speedup is None


def test_what_the_last_step_gave_beyond_the_end_is_not_paid_for_again() -> None:
    """7 tokens: the first, and 2 steps that cover 8, 2 of them beyond the end. At K = 1 a step
    covers 2, and the last one goes at most 1 beyond: 7 tokens, 3.5 steps."""
    answer = Answer((0, 0), None, 7, 5.0, 25.0, drafted=(3, 3), accepted=(3, 3))
    (found,) = predict([answer], {}, FLAT, [1])
    assert found.tpot_ms.value == pytest.approx(3.5 * 10 / 6)


def test_a_step_costs_what_its_draft_tokens_do() -> None:
    """2 of 4 steps draft 3: 1.5 tokens a step and 10 ms. With 1 token they are 0.5 a step."""
    answer = Answer((0, 0), None, 9, 5.0, 45.0, drafted=(3, 3), accepted=(3, 1))
    (found,) = predict([answer], {}, StepCost(4.0, 2.0, None, "made up"), [1])
    assert found.tpot_ms.value == pytest.approx(CUT_STEPS * 10 * (4 + 1) / (4 + 3) / 8)


@pytest.mark.parametrize("redrafted", [False, True])
def test_intervals_hold_the_value_and_narrow_with_prompts(redrafted: bool) -> None:
    def width(count: int) -> float:
        answers = independent(0.6, LARGEST, LENGTHS[:count])
        redrafts = dict(zip([(i, 0) for i in range(count)], answers, strict=True))
        run, plain = run_of(answers, LARGEST), by_key(run_of(answers, 0))
        found = predict(run, plain, cost_of(PRICE), [4], redrafts if redrafted else None)[0]
        assert found.speedup is not None
        for figure in (
            found.mean_acceptance_length,
            found.draft_acceptance_rate,
            found.tpot_ms,
            found.speedup,
        ):
            assert figure.low is not None and figure.high is not None
            assert figure.low < figure.value < figure.high
        assert (
            found.mean_acceptance_length.low is not None
            and found.mean_acceptance_length.high is not None
        )
        return found.mean_acceptance_length.high - found.mean_acceptance_length.low

    # where the run is cut short, the error of the kind of text stays however many prompts there are
    kept = 0.0 if redrafted else 2 * student_quantile(0.975, 150) * steps_error(4 / LARGEST, 10**9)
    assert width(150) - kept < width(10) / 2


def test_an_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    truth, held = theory.expected_tokens(0.6, 4), 0
    for seed in range(60):
        run = run_of(independent(0.6, LARGEST, [40] * 25, seed), LARGEST)
        length = predict(run, {}, FLAT, [4])[0].mean_acceptance_length
        assert length.low is not None and length.high is not None
        held += length.low <= truth <= length.high
    assert 50 <= held <= 60


@pytest.mark.parametrize(("count", "reported"), [(1, False), (4, False), (5, True)])
def test_few_prompts_give_no_interval(count: int, reported: bool) -> None:
    answers = independent(0.6, LARGEST, LENGTHS[:count])
    (found,) = predict(run_of(answers, LARGEST), {}, FLAT, [4])
    for figure in (found.mean_acceptance_length, found.draft_acceptance_rate, found.tpot_ms):
        assert (figure.low is not None) == (figure.high is not None) == reported


def test_equal_prompts_leave_the_methods_own_error() -> None:
    """Nothing is uncertain where drafts were made again; cut short, the cut is."""
    redraft = independent(0.6, 3, [50])[0]
    answer = timed(0, redraft, 3, PRICE)
    run = [replace(answer, key=(index, 0)) for index in range(6)]
    again = {one.key: redraft for one in run}
    exact = predict(run, {}, FLAT, [2], again)[0].mean_acceptance_length
    assert (exact.low, exact.high) == (pytest.approx(exact.value), pytest.approx(exact.value))
    cut = predict(run, {}, FLAT, [2])[0].mean_acceptance_length
    reach = student_quantile(0.975, 5.0) * steps_error(2 / 3, 6)
    assert cut.low == pytest.approx(cut.value * np.exp(-reach))
    assert cut.high == pytest.approx(cut.value * np.exp(reach))
    own = predict(run, {}, FLAT, [3])[0].mean_acceptance_length
    assert own == Estimate(own.value, pytest.approx(own.value), pytest.approx(own.value))


def test_prompts_of_one_block_count_as_one() -> None:
    run = run_of(independent(0.6, 3, LENGTHS[:12]), 3)
    apart, together = (
        predict([replace(one, block=block(n)) for n, one in enumerate(run)], {}, FLAT, [3])[0]
        for block in (str, lambda n: str(n // 4))
    )
    own = together.mean_acceptance_length
    assert own.low is not None and own.value == apart.mean_acceptance_length.value
    assert own.low != apart.mean_acceptance_length.low
    alone = predict([replace(one, block="one") for one in run], {}, FLAT, [3])[0]
    assert alone.mean_acceptance_length.low is None


def test_turns_and_repetitions_of_a_prompt_are_no_prompts_of_their_own() -> None:
    answers = independent(0.6, 3, LENGTHS[:6])
    run = run_of(answers, 3)
    again = [replace(answer, key=(answer.key[0], 1)) for answer in run]
    once, thrice = (predict(reported, {}, FLAT, [2])[0] for reported in (run, run + run + again))
    assert (thrice.mean_acceptance_length.low, thrice.mean_acceptance_length.high) == pytest.approx(
        (once.mean_acceptance_length.low, once.mean_acceptance_length.high)
    )
    few = [replace(answer, key=(0, turn)) for turn, answer in enumerate(run)]
    assert predict(few, {}, FLAT, [2])[0].mean_acceptance_length.low is None


def test_what_cannot_be_compared_is_left_out() -> None:
    """Answers without a draft, without a baseline, or that were not redrafted."""
    answers = independent(0.7, LARGEST, LENGTHS[:7])
    run, plain = run_of(answers, LARGEST), by_key(run_of(answers, 0))
    run[0] = replace(run[0], drafted=(), accepted=())
    some = {key: answer for key, answer in plain.items() if key[0] != 1}
    redrafts = {(index, 0): answers[index] for index in range(7) if index != 2}
    cost = cost_of(PRICE)
    left = predict(run[3:], plain, cost, [4], {k: v for k, v in redrafts.items() if k[0] > 2})
    assert predict(run, some, cost, [4], redrafts) == left
    assert (
        predict(run[1:], {}, cost, [4])[0].mean_acceptance_length
        == predict(run, {}, cost, [4])[0].mean_acceptance_length
    )
    assert predict(run[:1], plain, cost, [4]) == ()
    assert predict(run, {(99, 0): plain[3, 0]}, cost, [4]) == ()
    assert predict([], {}, cost, [4]) == ()


def test_without_a_baseline_step_times_pass_through_the_run() -> None:
    answers = independent(0.7, LARGEST, LENGTHS[:20])
    run = run_of(answers, LARGEST)
    redrafts = {(index, 0): answer for index, answer in enumerate(answers)}
    slower = cost_of(PRICE, slower=2.0)
    for found in predict(run, {}, slower, [1, 8, LARGEST], redrafts):
        assert found.speedup is None
        assert found.tpot_ms.value == pytest.approx(_tpot(run_of(answers, found.k)))


def test_without_step_times_acceptance_is_told_and_time_is_not() -> None:
    answers = independent(0.7, LARGEST, LENGTHS[:9])
    run, plain = run_of(answers, LARGEST), by_key(run_of(answers, 0))
    (timeless,), (found,) = predict(run, plain, None, [4]), predict(run, plain, FLAT, [4])
    assert timeless == replace(found, tpot_ms=None, speedup=None)


@pytest.mark.parametrize(
    ("chunks", "undrafted"),
    [(0, 0), (2, 0), (3, 0), (4, 1), (5, 2)],
)
def test_a_draft_beyond_the_end_hides_no_step(chunks: int, undrafted: int) -> None:
    """5 tokens after the first; drafts cover 3 and 4, so tokens leave no step without a draft."""
    answer = Answer((0, 0), None, 6, 5.0, 45.0, (3, 3), (2, 3), chunks)
    assert (answer.num_undrafted, answer.num_steps) == (undrafted, 2 + undrafted)


def test_what_an_answers_steps_were() -> None:
    some = [
        Answer((0, 0), None, 9, 5.0, 45.0, (3, 3), (3, 1)),
        Answer((1, 0), None, 3, 5.0, 25.0),
        Answer((2, 0), None, 1, 5.0, 5.0),
        Answer((0, 0), None, 2, 1.0, 2.0),
    ]
    assert [answer.num_steps for answer in some] == [4, 2, 0, 1]
    assert step_ms(some[:3]) == pytest.approx(60 / 6)
    assert drafting_step(some[:3], 8.0) == pytest.approx((3.0, (60 - 4 * 8) / 2))
    assert drafting_step(some[:3], None) is None
    whole = replace(some[0], output_tokens=7)
    assert drafting_step([whole], None) == pytest.approx((3.0, 20.0))
    assert step_ms(some[2:3]) is None and drafting_step(some[2:3], 8.0) is None
    assert by_key(some) == {(0, 0): some[0], (1, 0): some[1], (2, 0): some[2]}
    assert np.isclose(length_of(some[:1]), 3.0)
