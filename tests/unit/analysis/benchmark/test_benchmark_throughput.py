"""Throughput and goodput: what counts, and over which time."""

from __future__ import annotations

import pytest

from specviz.analysis.benchmark.goodput import met
from specviz.analysis.benchmark.results import Slo
from specviz.analysis.benchmark.throughput import wall_s
from tests.support.analysis.benchmark_frames import frame, request, results


def test_blocks_are_measured_one_by_one() -> None:
    rows = [
        request(0, 0, block="a", sent_ms=0.0, e2el_ms=100.0),
        request(0, 1, block="a", sent_ms=50.0, e2el_ms=250.0),  # both at once: 300 ms
        request(0, 2, block="b", sent_ms=20.0, e2el_ms=100.0),  # what was before does not count
        request(0, 3, block="b", sent_ms=5020.0, e2el_ms=100.0, round_id="another"),
    ]
    assert wall_s(frame(rows)) == pytest.approx(0.3 + 0.1 + 0.1)


def test_tokens_are_counted_not_chunks() -> None:
    rows = [request(0, n, output_tokens=30, chunk_ms=[1.0, 2.0]) for n in range(4)]
    cell = results(rows).cells[0]
    assert (cell.output_tokens, cell.output_throughput) == (120, pytest.approx(120 / 0.4))
    assert cell.request_throughput == pytest.approx(10.0)


def test_an_untold_length_leaves_no_throughput() -> None:
    rows = [request(0, 0), request(0, 1, output_tokens=None)]
    cell = results(rows, slo=Slo(ttft_ms=50.0)).cells[0]
    assert (cell.output_tokens, cell.output_throughput) == (None, None)
    assert (cell.request_throughput, cell.request_goodput) == (pytest.approx(10), pytest.approx(10))
    assert [note for note in cell.notes if "output tokens of 1 of 2 requests" in note]


@pytest.mark.parametrize(
    ("slo", "count"),
    [
        (Slo(), None),
        (Slo(ttft_ms=10.0), 2),  # the limit itself is met
        (Slo(tpot_ms=9.0), 2),
        (Slo(e2el_ms=99.0), 1),
        (Slo(ttft_ms=10.0, tpot_ms=9.0), 1),
    ],
)
def test_every_limit_that_is_set_must_be_met(slo: Slo, count: int | None) -> None:
    rows = [
        request(0, 0, ttft_ms=10.0, tpot_ms=10.0, e2el_ms=100.0),
        request(0, 1, ttft_ms=11.0, tpot_ms=8.0, e2el_ms=100.0),
        request(0, 2, ttft_ms=5.0, tpot_ms=None, e2el_ms=5.0, output_tokens=1),
    ]
    assert met(frame(rows), slo) == count
    seconds = wall_s(frame(rows))
    goodput = results(rows, slo=slo).cells[0].request_goodput
    assert goodput == (None if count is None else pytest.approx(count / seconds))


def test_without_lengths_nobody_knows_whether_tpot_was_met() -> None:
    rows = [request(0, 0, tpot_ms=None, output_tokens=None)]
    assert met(frame(rows), Slo(tpot_ms=10.0)) is None
    assert met(frame(rows), Slo(ttft_ms=10.0)) == 1


def test_a_category_alone_in_its_blocks_has_a_throughput() -> None:
    rows = [request(0, n, block="a", sent_ms=100.0 * n) for n in range(2)]
    rows += [request(0, 2, block="b", category="translation", e2el_ms=50.0)]
    answers, translation = results(rows).categories
    assert (answers.category, translation.category) == ("short_qa", "translation")
    assert answers.output_throughput == pytest.approx(20 / 0.2)
    assert translation.output_throughput == pytest.approx(10 / 0.05)


@pytest.mark.parametrize(
    "columns", [{"block": "a"}, {"concurrency": 2}, {"concurrency": None, "request_rate": 3.0}]
)
def test_mixed_categories_have_none(columns: dict[str, object]) -> None:
    rows = [request(0, n, category=name, **columns) for n, name in enumerate(["x", "y"])]
    found = results(rows)
    assert found.cells[0].output_throughput is not None
    for cell in found.categories:
        assert (cell.output_throughput, cell.request_throughput, cell.request_goodput) == (
            None,
        ) * 3
        assert "No throughput per category: categories ran mixed." in cell.notes
