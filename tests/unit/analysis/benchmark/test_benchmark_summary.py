"""A whole benchmark: cells, counter checks, notes, and frames with little or nothing in them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.results import Slo
from specviz.analysis.benchmark.summary import summarise
from tests.support.analysis.benchmark_frames import (
    ARMS,
    SOME,
    arm,
    failed,
    frame,
    request,
    results,
    round_of,
)

DRAFTED: dict[str, Any] = dict(per_step_accepted=[2, 0], per_step_drafted=[3, 3])
COUNTED: dict[str, Any] = dict(server_drafts=2, server_draft_tokens=6, server_accepted_tokens=2)


def no_nan(value: float) -> None:
    raise AssertionError(f"{value} in JSON")


@pytest.mark.parametrize(
    ("samples", "rounds"),
    [
        (pd.DataFrame(), pd.DataFrame()),
        (frame([request()]).iloc[:0], frame([round_of()]).iloc[:0]),
        (pd.DataFrame(), frame([round_of()])),
    ],
)
def test_nothing_measured_says_nothing(samples: pd.DataFrame, rounds: pd.DataFrame) -> None:
    found = summarise(ARMS, samples, rounds, Slo(ttft_ms=1.0))
    assert found.arms == ARMS
    assert (found.cells, found.categories, found.checks, found.notes) == ((), (), (), ())


def test_only_failed_requests_leave_the_arms() -> None:
    found = results([failed(1, 0), failed(1, 1)], [round_of(1, **COUNTED)])
    assert found.arms == ARMS
    assert (found.cells, found.categories, found.checks) == ((), (), ())
    assert found.notes == ("2 of 2 requests of eagle 1 failed: they are in no figure.",)


def test_a_cell_counts_its_requests() -> None:
    rows = [request(1, 0), request(1, 0, repetition=1), request(1, 1), failed(1, 2)]
    cell = results(rows).cells[0]
    assert (cell.arm, cell.method, cell.arm_index) == ("eagle 1", "eagle", 1)
    assert (cell.prompts, cell.requests, cell.failed, cell.output_tokens) == (2, 3, 1, 30)
    assert (cell.category, cell.temperature, cell.load) == (None, 0.0, "concurrency 1")


def test_failed_requests_are_counted_per_category() -> None:
    rows = [request(1, 0, category="x"), failed(1, 1, category="y"), request(1, 2, category="y")]
    assert [(cell.category, cell.failed) for cell in results(rows).categories] == [
        ("x", 0),
        ("y", 1),
    ]


def test_requests_without_a_category_are_only_in_the_whole() -> None:
    found = results([request(0, 0, category=None)])
    assert len(found.cells) == 1
    assert found.categories == ()


def test_memory_is_the_largest_and_utilization_the_mean_of_the_rounds() -> None:
    rounds = [
        round_of(0, memory_bytes=5, memory_source="nvml", gpu_utilization=0.5),
        round_of(0, repetition=1, memory_bytes=9, memory_source="rss", gpu_utilization=0.7),
        round_of(0, repetition=2),
        round_of(0, repetition=3, memory_bytes=99, memory_source="of another cell"),
    ]
    rows = [request(0, 0, repetition=n) for n in range(3)]
    cell = results(rows, rounds).cells[0]
    assert (cell.memory_bytes, cell.memory_source) == (9, "rss")
    assert cell.gpu_utilization == pytest.approx(0.6)


def test_counts_are_checked_over_the_rounds_that_both_cover() -> None:
    rows = [request(1, 0, repetition=n, **DRAFTED) for n in range(5)]
    rows += [failed(1, 1, repetition=2), request(1, 1, repetition=3, num_drafts=None)]
    rounds = [round_of(1, **COUNTED), round_of(1, repetition=1, **COUNTED, complete=False)]
    rounds += [round_of(1, repetition=n, **COUNTED) for n in (2, 3)]
    rounds += [round_of(1, repetition=4, server_drafts=2)]
    (check,) = results(rows, rounds).checks
    assert (check.arm, check.arm_index, check.rounds_without) == ("eagle 1", 1, 4)
    assert (check.num_drafts, check.num_draft_tokens, check.num_accepted_tokens) == (2, 6, 2)
    assert check.agrees


def test_counts_that_differ_do_not_agree() -> None:
    rounds = [round_of(1, **{**COUNTED, "server_accepted_tokens": 3})]
    (check,) = results([request(1, 0, **DRAFTED)], rounds).checks
    assert (check.server_accepted_tokens, check.rounds_without) == (3, 0)
    assert not check.agrees


def test_a_server_that_does_not_count_is_not_checked() -> None:
    assert results([request(1, 0, **DRAFTED)], [round_of(1)]).checks == ()


def test_the_notes_name_what_limits_the_figures() -> None:
    arms = (
        arm(0, prefix_caching="salted"),
        arm(1, "eagle", prefix_caching="salted"),
        arm(2, "ngram", engine="vllm", model="other", baseline=None),
        arm(3, "suffix", engine="vllm", model="other", baseline=None, error="out of memory"),
        arm(4, "medusa", prefix_caching="salted"),
    )
    rows = [request(0, 0, server_group=0), request(0, 0, server_group=1, round_id="r")]
    assert results([*rows, request(1, 0), failed(1, 1)], arms=arms).notes == (
        "There is no baseline of vllm, other in the plan: no speed-up for ngram 2 and suffix 3.",
        "Prefix caching is on for baseline 0, eagle 1 and medusa 4: each request carried what "
        "keeps it out of that cache, so no prompt was answered from the cache.",
        "suffix 3 ended after 1 of 1 requests: out of memory",
        "1 of 2 requests of eagle 1 failed: they are in no figure.",
        "baseline 0 was measured in 2 groups of servers: an arm is compared with the baseline "
        "measured alongside it; its own figures include all groups.",
    )


def test_thinking_has_a_second_figure_and_answers_without_text_are_told() -> None:
    thought = [request(1, at, has_side_text=True, ttfo_ms=80.0 + at) for at in range(3)]
    empty = request(1, 3, has_side_text=True, ttfo_ms=None)
    (cell,) = results([*thought, empty]).cells
    said = " ".join(cell.notes)
    assert "3 of 4 requests sent other output" in said and "after 81 ms (median)" in said
    assert "1 of 4 answers have no text" in said
    (plain,) = results([request(1, at) for at in range(3)]).cells
    assert "no text" not in " ".join(plain.notes) and "thinking" not in " ".join(plain.notes)


def test_cells_are_in_order_of_arm_temperature_and_load() -> None:
    loads = [dict(concurrency=n) for n in (8, 1)] + [dict(concurrency=None, request_rate=2.0)]
    rows = [
        request(index, 0, temperature=temperature, **load)
        for index in (1, 0)
        for temperature in (0.7, 0.0)
        for load in loads
    ]
    found = [(cell.arm_index, cell.temperature, cell.load) for cell in results(rows).cells]
    expected = ["concurrency 1", "concurrency 8", "2 requests/s"]
    assert found == [(a, t, load) for a in (0, 1) for t in (0.0, 0.7) for load in expected]


@SOME
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "arm_index": st.integers(0, 1),
                "prompt_index": st.integers(0, 6),
                "repetition": st.integers(0, 1),
                "output_tokens": st.none() | st.integers(0, 3),
                "e2el_ms": st.floats(0.1, 1e6),
                "tpot_ms": st.none() | st.floats(0, 1e3),
                "chunk_ms": st.none() | st.lists(st.floats(0, 1e3), max_size=3),
                "num_drafts": st.none() | st.just(0),
                "category": st.none() | st.sampled_from("ab"),
                "temperature": st.sampled_from([0.0, 0.7]),
            }
        ),
        max_size=20,
    ),
    st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_any_frame_gives_json_without_nan(rows: list[dict[str, Any]], fails: list[bool]) -> None:
    made = [
        failed(row["arm_index"], row["prompt_index"], category=row["category"])
        if fail
        else request(**row)
        for row, fail in zip(rows, fails, strict=False)
    ]
    found = results(made, [round_of(0), round_of(1, **COUNTED)], slo=Slo(ttft_ms=1.0, tpot_ms=5.0))
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text, parse_constant=no_nan)["arms"][0]["arm"] == "baseline 0"
    finished = sum(not fail for _, fail in zip(rows, fails, strict=False))
    assert sum(cell.requests for cell in found.cells) == finished


def test_figures_are_plain_numbers() -> None:
    rows = [request(index, n, **DRAFTED) for index in (0, 1) for n in range(6)]
    rounds = [round_of(1, **COUNTED, memory_bytes=7, gpu_utilization=0.5)]
    found = results(rows, rounds, slo=Slo(e2el_ms=1000.0))
    cell = found.cells[1]
    kept = {name for name, value in found.to_dict()["cells"][1].items() if value is None}
    assert kept == {"k", "draft", "category", "request_rate", "memory_source", "step_time"}
    assert type(cell.requests) is int
    assert type(cell.output_throughput) is float
    assert cell == replace(cell)
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_k_of_a_sweep_is_the_smallest_that_is_as_good() -> None:
    """K 3 and 5 halve the time, K 1 saves a tenth: 3. A category apart has its own."""
    times = {1: 90.0, 3: 50.0, 5: 50.0}
    arms = [
        ARMS[0],
        *(arm(n, "eagle3", arm=f"eagle3 · K {k}", k=k) for n, k in enumerate(times, 1)),
    ]
    rows = []
    for prompt in range(8):
        length = 1 + prompt / 4
        rows.append(request(0, prompt, e2el_ms=100 * length))
        for n, ms in enumerate(times.values(), 1):
            rows.append(request(n, prompt, e2el_ms=ms * length * (1 + 0.01 * ((prompt + n) % 3))))
    found = results(rows, arms=tuple(arms))
    whole, text = found.k_choices
    assert (whole.category, text.category) == (None, "short_qa")
    assert (whole.ks, whole.k, whole.equivalent_ks, whole.arms) == ((1, 3, 5), 3, (3, 5), (1, 2, 3))
    assert whole.speedup.low is not None and whole.speedup.verdict == "faster"
    assert whole.speedup.ratio == pytest.approx(2.0, rel=0.02)
    (printed, _) = found.to_dict()["k_choices"]
    assert "noise" not in printed and printed["equivalent_ks"] == (3, 5)
