"""Quantiles of a cell against values worked out by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.list_columns import differences
from specviz.analysis.benchmark.quantiles import quantiles, too_few
from tests.support.analysis.benchmark_frames import request, results


def test_quantiles_are_interpolated() -> None:
    found = quantiles([30.0, 10.0, 20.0, 40.0])
    assert found is not None
    assert (found.count, found.mean, found.p50) == (4, 25.0, 25.0)
    assert found.p90 == pytest.approx(37.0)  # position 2.7 of 0 to 3
    assert found.p95 == pytest.approx(38.5)
    assert found.p99 == pytest.approx(39.7)


def test_p95_of_twenty_values_is_not_their_maximum() -> None:
    found = quantiles(range(1, 21))
    assert found is not None
    assert found.p95 == pytest.approx(19.05)


def test_requests_without_the_figure_do_not_count() -> None:
    found = quantiles([math.nan, 1.0, 3.0])
    assert found is not None
    assert (found.count, found.mean) == (2, 2.0)
    assert quantiles([math.nan]) is None
    assert quantiles([]) is None


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_quantiles_are_ordered_and_within_the_values(values: list[float]) -> None:
    found = quantiles(values)
    assert found is not None
    order = [min(values), found.p50, found.p90, found.p95, found.p99, max(values)]
    assert all(low <= high + 1e-6 for low, high in pairwise(order))


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "P90 (needs 10), P95 (needs 20) and P99 (needs 100) rest on as few as 1 value."),
        (10, "P95 (needs 20) and P99 (needs 100) rest on as few as 10 values."),
        (99, "P99 (needs 100) rests on as few as 99 values."),
        (100, None),
    ],
)
def test_too_few_values_are_said_in_one_sentence(count: int, said: str | None) -> None:
    assert too_few([quantiles(range(200)), None, quantiles(range(count))]) == said


def test_no_values_need_no_sentence() -> None:
    assert too_few([None]) is None


def test_steps_are_within_a_request() -> None:
    chunks = pd.Series([[5.0, 7.0, 10.0], None, [], [1.0], [2.0, 12.0]])
    assert differences(chunks).tolist() == [2.0, 3.0, 10.0]


def test_a_cell_says_once_that_values_are_few() -> None:
    cell = results([request(0, prompt) for prompt in range(12)]).cells[0]
    assert sum("rest on as few as 12 values" in note for note in cell.notes) == 1
    assert cell.step_ms is not None
    assert (cell.step_ms.count, cell.step_ms.p50) == (12, 90.0)


def test_answers_of_one_chunk_have_no_step_time() -> None:
    row = request(0, 0, chunk_ms=[10.0], tpot_ms=None, output_tokens=1)
    cell = results([row]).cells[0]
    assert cell.step_ms is None
    assert cell.tpot_ms is None
    assert "No TPOT and no step time: no request had more than one chunk." in cell.notes
