"""Speed-up: paired per prompt, a ratio of totals, intervals over prompts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from specviz.analysis.benchmark.results import Cell, Speedup
from specviz.analysis.benchmark.speedup import paired, speedup
from tests.support.analysis.benchmark_frames import ARMS, SOME, arm, frame, request, results

Times = list[tuple[float, float]]  # baseline, method; one pair per prompt


def rows_of(times: Times, **columns: Any) -> list[dict[str, Any]]:
    return [
        request(index, prompt, e2el_ms=pair[index], **columns)
        for prompt, pair in enumerate(times)
        for index in (0, 1)
    ]


def of(rows: list[dict[str, Any]], temperature: float = 0.0) -> Speedup | None:
    table = frame(rows)
    method, baseline = table[table["arm_index"] == 1], table[table["arm_index"] == 0]
    return speedup(paired(method, baseline), temperature)


def known(found: Speedup | None) -> Speedup:
    assert found is not None
    return found


milliseconds = st.floats(1, 1e5)
times = st.lists(st.tuples(milliseconds, milliseconds), min_size=1, max_size=12)


def test_the_ratio_is_of_totals_not_a_mean_of_ratios() -> None:
    found = known(of(rows_of([(600.0, 100.0), (100.0, 100.0), (100.0, 50.0)])))
    assert found.ratio == 800 / 250
    assert (found.prompts, found.excluded, found.basis) == (3, 0, "time")
    assert (found.low, found.high) == (None, None)


def test_prompts_that_one_arm_did_not_answer_do_not_count() -> None:
    rows = [*rows_of([(200.0, 100.0)]), request(0, 7, e2el_ms=9000.0), request(1, 8)]
    found = known(of(rows))
    assert (found.ratio, found.prompts, found.excluded) == (2.0, 1, 2)


def test_greedy_prompts_of_unequal_length_are_left_out() -> None:
    rows = [
        *rows_of([(200.0, 100.0), (300.0, 100.0)]),
        *(request(0, 2, output_tokens=10), request(1, 2, output_tokens=11, e2el_ms=5.0)),
    ]
    found = known(of(rows))
    assert (found.ratio, found.prompts, found.excluded, found.basis) == (2.5, 2, 1, "time")


def test_every_repetition_must_have_the_same_length() -> None:
    rows = [
        *rows_of([(200.0, 100.0), (400.0, 100.0)]),
        request(1, 1, repetition=1, output_tokens=9, e2el_ms=1.0),
    ]
    found = known(of(rows))
    assert (found.ratio, found.prompts, found.excluded) == (2.0, 1, 1)


def test_mostly_unequal_lengths_are_compared_per_token() -> None:
    rows = [
        *rows_of([(200.0, 100.0)]),
        *(request(0, 1, output_tokens=10), request(1, 1, output_tokens=20)),
        *(request(0, 2, output_tokens=10), request(1, 2, output_tokens=30)),
    ]
    found = known(of(rows))
    assert (found.prompts, found.excluded, found.basis) == (3, 0, "time per token")
    assert found.ratio == pytest.approx((400 / 30) / (300 / 60))


def test_exactly_half_equal_lengths_are_enough_for_time() -> None:
    rows = [*rows_of([(200.0, 100.0)]), request(0, 1), request(1, 1, output_tokens=20)]
    assert known(of(rows)).basis == "time"


def test_sampled_answers_are_compared_per_token() -> None:
    rows = [
        *(request(0, 0, output_tokens=20, e2el_ms=400.0), request(1, 0, e2el_ms=100.0)),
        *(request(0, 1, output_tokens=10, e2el_ms=200.0), request(1, 1, e2el_ms=100.0)),
    ]
    found = known(of(rows, temperature=0.7))
    assert (found.basis, found.prompts) == ("time per token", 2)
    assert found.ratio == pytest.approx((600 / 30) / (200 / 20))


def test_turns_are_summed_and_repetitions_averaged() -> None:
    rows = [
        *(request(0, 0, turn=turn, e2el_ms=ms) for turn, ms in enumerate([100.0, 300.0])),
        *(request(1, 0, turn=0, repetition=n, e2el_ms=ms) for n, ms in enumerate([50.0, 70.0])),
        *(request(1, 0, turn=1, repetition=n, e2el_ms=ms) for n, ms in enumerate([90.0, 190.0])),
    ]
    found = known(of(rows))
    assert (found.ratio, found.prompts) == (400 / (60 + 140), 1)


def test_a_conversation_with_a_lost_turn_does_not_count() -> None:
    rows = [*rows_of([(200.0, 100.0)]), request(0, 0, turn=1, e2el_ms=900.0)]
    assert of(rows) is None


def test_unknown_lengths_cannot_be_compared() -> None:
    rows = rows_of([(200.0, 100.0), (200.0, 100.0)], output_tokens=None)
    assert of(rows) is None
    assert of(rows, temperature=1.0) is None


PAIRS = [(100.0 + 37 * n % 90, 50.0 + 23 * n % 70) for n in range(12)]


def by_hand(baseline: np.ndarray, method: np.ndarray) -> tuple[float, float]:
    """Without each unit in a loop; the quantile is scipy's."""
    units = len(baseline)
    without = [
        np.log((baseline.sum() - baseline[unit]) / (method.sum() - method[unit]))
        for unit in range(units)
    ]
    error = np.sqrt((units - 1) / units * np.square(without - np.mean(without)).sum())
    shares = (baseline / baseline.sum() + method / method.sum()) / 2
    reach = student.ppf(0.975, 1 / np.square(shares).sum() - 1) * error
    ratio = np.log(baseline.sum() / method.sum())
    return float(np.exp(ratio - reach)), float(np.exp(ratio + reach))


def test_the_interval_is_students_around_the_jackknife() -> None:
    found = known(of(rows_of(PAIRS)))
    low, high = by_hand(*np.array(PAIRS).T)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.blocks == len(PAIRS)


def check_blocks(arms: tuple[int, ...]) -> None:
    """Prompts of `arms` share blocks of three."""
    rows = rows_of(PAIRS)
    for row in rows:
        if row["arm_index"] in arms:
            row["block"] = f"b{row['prompt_index'] // 3}"
    found = known(of(rows))
    low, high = by_hand(*np.array(PAIRS).reshape(4, 3, 2).sum(axis=1).T)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert (found.prompts, found.blocks) == (12, 4)


def test_prompts_of_one_block_count_as_one() -> None:
    check_blocks((0, 1))


def test_prompts_that_share_a_block_of_the_baseline_count_as_one() -> None:
    check_blocks((0,))


def test_one_block_has_no_interval_and_says_so() -> None:
    rows = rows_of(PAIRS, block="the only one")
    found = known(of(rows))
    assert (found.low, found.high, found.blocks) == (None, None, 1)
    assert found.verdict_text == "not decided: all prompts ran in one block"
    assert any("share its slow moments" in note for note in cells_of(rows)[1].notes)


def test_one_prompt_less_is_one_less_of_both_arms() -> None:
    found = known(of(rows_of([(ms, ms / 2) for ms in (10.0, 100.0, 1000.0, 50.0, 500.0)])))
    assert (found.low, found.high) == (pytest.approx(2.0), pytest.approx(2.0))
    assert found.verdict_text == "faster"


def test_more_requests_of_the_same_prompts_narrow_nothing() -> None:
    pairs = [(100.0 * (1 + n), 100.0) for n in range(6)]
    once = known(of(rows_of(pairs)))
    many = [row for n in range(10) for row in rows_of(pairs, repetition=n)]
    again = known(of(many))
    assert (again.prompts, again.ratio) == (6, pytest.approx(once.ratio))
    assert (again.low, again.high) == (pytest.approx(once.low), pytest.approx(once.high))
    assert once.low is not None
    assert once.low < 3.5 < once.ratio + 0.01


@SOME
@given(times)
def test_an_arm_is_as_fast_as_itself(pairs: Times) -> None:
    found = known(of(rows_of([(ms, ms) for ms, _ in pairs])))
    assert found.ratio == pytest.approx(1.0)
    if len(pairs) >= 5:
        assert (found.low, found.high) == (pytest.approx(1.0), pytest.approx(1.0))


@SOME
@given(times, st.floats(0.1, 10))
def test_a_method_that_is_slower_by_a_factor_gains_less_by_it(pairs: Times, factor: float) -> None:
    found = known(of(rows_of(pairs)))
    slower = known(of(rows_of([(ms, factor * other) for ms, other in pairs])))
    assert slower.ratio == pytest.approx(found.ratio / factor)


@SOME
@given(times)
def test_the_ratio_lies_between_the_prompts_and_in_its_interval(pairs: Times) -> None:
    found = known(of(rows_of(pairs)))
    ratios = [baseline / method for baseline, method in pairs]
    assert min(ratios) * 0.999 <= found.ratio <= max(ratios) * 1.001
    assert (found.low is None) == (len(pairs) < 5)
    if found.low is not None and found.high is not None:
        assert found.low * 0.999 <= found.ratio <= found.high * 1.001


def cells_of(rows: list[dict[str, Any]], **columns: Any) -> tuple[Cell, ...]:
    return results(rows, arms=(ARMS[0], arm(1, "eagle", **columns))).cells


def test_the_baseline_of_the_same_servers_is_compared_with() -> None:
    beside = rows_of([(200.0, 100.0)], server_group=1)
    elsewhere = [request(0, 0, server_group=0, e2el_ms=1000.0, round_id="other")]
    assert known(cells_of([*beside, *elsewhere])[1].speedup).ratio == 2.0


def test_a_baseline_of_other_servers_is_better_than_none() -> None:
    rows = [
        request(0, 0, server_group=0, e2el_ms=200.0),
        request(0, 0, server_group=1, e2el_ms=400.0),
        request(1, 0, server_group=2, e2el_ms=100.0),
    ]
    assert known(cells_of(rows)[1].speedup).ratio == 3.0


def test_only_the_same_temperature_and_load_are_compared() -> None:
    rows = [*rows_of([(200.0, 100.0)]), request(0, 0, concurrency=8, e2el_ms=9000.0)]
    rows += [request(1, 0, concurrency=None, request_rate=2.0)]
    base, _, closed, arrivals = cells_of(rows)
    assert (base.load, arrivals.load) == ("concurrency 1", "2 requests/s")
    assert known(closed.speedup).ratio == 2.0
    assert arrivals.speedup is None
    assert any(note.startswith("No speed-up: no prompt") for note in arrivals.notes)


def test_the_baseline_itself_has_no_speedup() -> None:
    cells = results(rows_of([(200.0, 100.0)]), arms=(arm(0, baseline=0), ARMS[1])).cells
    assert cells[0].speedup is None
    assert not [note for note in cells[0].notes if "speed-up" in note]


def test_categories_have_their_own() -> None:
    rows = [*rows_of([(200.0, 100.0)]), request(0, 1, category="translation", e2el_ms=300.0)]
    rows += [request(1, 1, category="translation", e2el_ms=100.0)]
    found = {cell.category: cell.speedup for cell in results(rows).categories if cell.arm_index}
    assert {name: known(one).ratio for name, one in found.items()} == {
        "short_qa": 2.0,
        "translation": 3.0,
    }


def test_few_prompts_and_unequal_lengths_are_said() -> None:
    rows = [request(0), request(1, output_tokens=20)]
    notes = cells_of(rows)[1].notes
    assert "1 prompt is too few for an interval of the speed-up (5 needed)." in notes
    assert any("time per output token" in note for note in notes)
