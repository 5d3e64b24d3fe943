"""Cells of a benchmark: where their time went, held against the baseline measured alongside."""

from __future__ import annotations

import pytest

from specviz.analysis.benchmark.results import Cell
from tests.support.analysis.benchmark_frames import request, results

PLAIN = dict(draft_ms=0.0, overlapped_draft_ms=0.0, verify_ms=81.0)
DRAFTED = dict(
    draft_ms=30.0, overlapped_draft_ms=0.0, verify_ms=60.0, num_steps=11, output_tokens=19,
    e2el_ms=110.0, tpot_ms=100 / 18, per_step_accepted=[1] * 8 + [0] * 2, per_step_drafted=[3] * 10,
)  # fmt: skip
"""Ten steps in 100 ms after the first, 18 tokens."""


def arm_cell(*, plain: dict[str, object], drafted: dict[str, object], prompts: int = 1) -> Cell:
    rows = [request(0, n, **plain) for n in range(prompts)]
    rows += [request(1, n, **drafted) for n in range(prompts)]
    (cell,) = [one for one in results(rows).cells if one.method == "eagle"]
    return cell


def test_a_cell_says_why_it_may_be_faster() -> None:
    cell = arm_cell(plain=PLAIN, drafted=DRAFTED)
    found = cell.step_time
    assert found is not None and (found.num_steps, found.tokens_per_step) == (10, 1.8)
    assert (found.draft_ms, found.verify_ms, found.other_ms) == pytest.approx((3.0, 6.0, 1.0))
    assert found.step_ms == 10.0 and cell.plain_tpot_ms == 10.0
    assert cell.step_time_text == (
        "Each step drafts for 3.00 ms, verifies for 6.00 ms and spends 1.00 ms on everything else; "
        "plain decoding takes 10.0 ms a token. At 1.80 tokens a step that is 5.56 ms a token: "
        "faster, which may be noise. It would stay faster up to 11.0 ms of drafting a step, or "
        "down to 1.00 tokens a step."
    )


def test_enough_prompts_leave_no_noise() -> None:
    text = arm_cell(plain=PLAIN, drafted=DRAFTED | {"e2el_ms": 60.0}, prompts=8).step_time_text
    assert text is not None and "faster. It would stay" in text


def test_a_server_that_reports_no_times_has_tokens_only() -> None:
    silent = dict.fromkeys(PLAIN)
    cell = arm_cell(plain=silent, drafted=DRAFTED | silent)
    assert cell.step_time is None and cell.plain_tpot_ms == 10.0
    assert cell.step_time_text == (
        "A token takes 5.56 ms, 10.0 ms in plain decoding: faster, which may be noise. A step that "
        "drafts gives 1.80 tokens. How long it drafts and verifies is not known."
    )


def test_the_baseline_is_described_and_compared_with_nothing() -> None:
    (cell,) = results([request(0, 0, **PLAIN)]).cells
    assert cell.plain_tpot_ms is None and cell.step_time is not None
    assert cell.step_time_text == (
        "Plain decoding takes 10.0 ms a token: 9.00 ms for the target's pass and 1.00 ms for "
        "everything else."
    )


def test_each_category_has_its_own() -> None:
    rows = [request(index, n, category=name, **(DRAFTED if index else PLAIN))
            for index in (0, 1) for n, name in enumerate(("a", "b"))]  # fmt: skip
    rows[-1] |= {"draft_ms": 35.0}
    found = [one for one in results(rows).categories if one.method == "eagle"]
    assert [one.step_time and one.step_time.draft_ms for one in found] == [3.0, 3.5]
