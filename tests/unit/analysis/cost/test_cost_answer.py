"""What speculation saves: the documents' rows, hand cases, and what must hold for all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.cost.answer import Question, Served, answer
from specviz.analysis.cost.basis import published_cost, published_training
from specviz.analysis.cost.interval import Interval
from specviz.analysis.cost.payback import Training
from specviz.analysis.cost.prices import DRIVER_NAMES, gpu_prices, list_price
from specviz.analysis.cost.request import cost_per_million_tokens, cost_per_request
from specviz.analysis.cost.sensitivity import swings
from specviz.analysis.text import dollars, dollars_with, percent_with
from specviz.errors import UsageError
from specviz.reference import published

rates = st.floats(1.0, 1e6)
prices = st.floats(0.01, 1e4)


def asked(baseline: float = 3200, method: float = 7680, **changes: object) -> Question:
    question = Question(13.04, Served(Interval(baseline)), Served(Interval(method)), 50_000.0)
    return replace(question, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("technique", "printed", "reduction"),
    [
        ("Baseline", "$0.00408", 0),
        ("Vanilla SD", "$0.00240", 41),
        ("EAGLE-3", "$0.00170", 58),
        ("Medusa-2", "$0.00204", 50),
    ],
)
def test_the_documents_rows_come_out_as_printed(
    technique: str, printed: str, reduction: int
) -> None:
    basis = published_cost()
    ways = {way.name: way for way in (basis.baseline, *basis.techniques)}
    question = Question(13.04, basis.baseline.served[8], ways[technique].served[8], 1000.0)
    found = answer(question)
    assert dollars(found.per_request.value) == printed
    assert round(100 * found.saving_share.value) == reduction
    row = published("cost").set_index("technique").loc[technique]
    assert dollars(row["cost_per_request_usd"]) == printed


def test_the_documents_price_is_four_of_their_gpus() -> None:
    theirs = gpu_prices()[0]
    assert theirs.usd_per_gpu_hour is not None
    assert round(theirs.usd_per_gpu_hour * theirs.gpus, 9) == 13.04
    for offer in gpu_prices():
        sourced = offer.source and offer.read_on
        assert sourced if offer.usd_per_gpu_hour is not None else offer.note
    titles = [offer.title for offer in gpu_prices()]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize(
    ("hardware", "gpu", "count"),
    [
        ("16 × Xeon, 128 GiB, 1 × NVIDIA H100 80GB HBM3 (80 GiB)", "H100 80GB SXM", 1),
        ("96 × EPYC, 1024 GiB, 4 × NVIDIA A100-SXM4-80GB (80 GiB)", "A100 80GB SXM", 4),
        ("2 × EPYC, 23 GiB, 8 × NVIDIA H200 (141 GiB)", "H200 141GB SXM", 8),
    ],
)
def test_measured_hardware_has_its_own_list_price(hardware: str, gpu: str, count: int) -> None:
    found = list_price(hardware)
    assert found is not None
    assert (found[0].gpu, found[1]) == (gpu, count)
    assert found[0].usd_per_gpu_hour and found[0].read_on


@pytest.mark.parametrize(
    "hardware",
    [
        None,
        "",
        "2 × AMD EPYC 9V74, 23 GiB, no GPU",
        "2 × EPYC, 23 GiB, 1 × NVIDIA L4 (24 GiB)",  # in the list, without a price
        "2 × EPYC, 23 GiB, 1 × NVIDIA T4 (16 GiB)",
        "2 × EPYC, 23 GiB, 1 × NVIDIA H200 (141 GiB), 1 × NVIDIA L4 (24 GiB)",
    ],
)
def test_what_has_no_list_price_gets_none(hardware: str | None) -> None:
    assert list_price(hardware) is None


def test_the_driver_names_gpus_of_the_list() -> None:
    assert set(DRIVER_NAMES.values()) <= {offer.gpu for offer in gpu_prices()}


def test_a_case_by_hand() -> None:
    served = Served(Interval(1000, 800, 1250), 10.0)
    question = Question(
        10.0, Served(Interval(500), 5.0), served, 3000.0, Training(100.0, 12, retrains=True)
    )
    found = answer(question)
    assert found.baseline_per_request == 0.02
    assert found.per_request == Interval(0.01, 0.008, 0.0125)
    assert found.saving_share.value == pytest.approx(0.5)
    assert (found.saving_share.low, found.saving_share.high) == pytest.approx((0.375, 0.6))
    assert found.saving_per_month.value == pytest.approx(0.01 * 3000 * 365 / 12 - 100)
    assert found.baseline_per_million_tokens == pytest.approx(10 / 3600 / 5 * 1e6)
    assert found.per_million_tokens is not None
    assert found.per_million_tokens.value == pytest.approx(10 / 3600 / 10 * 1e6)
    assert found.per_million_tokens.low == pytest.approx(10 / 3600 / 12.5 * 1e6)
    assert found.payback.requests == pytest.approx(10_000)
    assert found.payback_worst is not None and found.payback_best is not None
    assert found.payback_worst.requests == pytest.approx(100 / 0.0075)
    assert found.payback_best.requests == pytest.approx(100 / 0.012)


def test_without_throughput_or_interval_nothing_is_made_up() -> None:
    found = answer(asked())
    assert found.per_million_tokens is None and found.baseline_per_million_tokens is None
    assert not found.saving_per_month.is_known
    assert found.payback_best is None and found.payback_worst is None


@given(price=prices, baseline=rates, method=rates)
def test_saving_has_the_sign_of_the_gain(price: float, baseline: float, method: float) -> None:
    found = answer(asked(baseline, method, usd_per_hour=price))
    assert found.saving_share.value == pytest.approx(1 - baseline / method, abs=1e-9)
    assert (found.saving_per_request.value > 0) == (found.per_request.value < price / baseline)


@given(price=prices, rate=rates, factor=st.floats(1.01, 10))
def test_cost_rises_with_price_and_falls_with_rate(
    price: float, rate: float, factor: float
) -> None:
    assert cost_per_request(price * factor, rate) > cost_per_request(price, rate)
    assert cost_per_request(price, rate * factor) < cost_per_request(price, rate)
    per_token = cost_per_million_tokens(price, rate / 3600) / 1e6
    assert per_token == pytest.approx(cost_per_request(price, rate))


@pytest.mark.parametrize(("price", "rate"), [(0, 1), (-1, 1), (1, 0), (1, -3), (float("inf"), 1)])
def test_what_makes_no_cost_is_refused(price: float, rate: float) -> None:
    with pytest.raises(UsageError, match="above 0"):
        cost_per_request(price, rate)
    with pytest.raises(UsageError, match="above 0"):
        cost_per_million_tokens(price, rate)


def test_the_tornado_moves_one_input_at_a_time_the_widest_first() -> None:
    question = asked(training=Training(200.0, 4, retrains=True))
    found = swings(question)
    assert [swing.width for swing in found] == sorted((s.width for s in found), reverse=True)
    by_name = {swing.name: swing for swing in found}
    assert len(by_name) == 6
    rate = by_name["requests/h, with speculation"]
    assert (rate.low_input, rate.high_input) == pytest.approx((6144, 9216))
    at_low = answer(asked(method=6144, training=question.training)).saving_per_month.value
    assert rate.saving_at_low == pytest.approx(at_low)
    training = by_name["cost of one training, $"]
    assert training.width == pytest.approx(0.4 * 200 * 4 / 12)
    assert not any(swing.by_interval for swing in found)


def test_the_tornado_moves_a_measured_rate_by_its_interval() -> None:
    question = asked(method=0, baseline=3200)
    measured = Served(Interval(7680, 7000, 8000))
    by_name = {swing.name: swing for swing in swings(replace(question, method=measured))}
    swing = by_name["requests/h, with speculation"]
    assert swing.by_interval and (swing.low_input, swing.high_input) == (7000, 8000)
    assert "cost of one training, $" not in by_name  # paid once: not in the monthly saving


def test_training_of_a_method_is_the_published_one() -> None:
    assert published_training("eagle3") == (200.0, True)
    assert published_training("draft_model") == (0.0, False)
    assert published_training("ngram") == (0.0, False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.004075, "$0.00408"),
        (9.996, "$10.0"),
        (999.6, "$1,000"),
        (1234567, "$1,234,567"),
        (-12.46, "-$12.5"),
        (0, "$0"),
        (None, None),
    ],
)
def test_dollars_have_three_digits(value: float | None, text: str | None) -> None:
    assert dollars(value) == text


def test_intervals_come_before_their_figure() -> None:
    assert dollars_with(Interval(2, 1, 3)) == "$1.00 to $3.00 ($2.00)"
    assert dollars_with(Interval(2)) == "$2.00"
    assert percent_with(Interval(0.58, 0.52, 0.63)) == "52 to 63 % (58 %)"
