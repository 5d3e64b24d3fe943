"""Figures of phases, worked out by hand, and what their intervals resample."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from specviz.analysis.benchmark.phases.figures import PhaseFigures
from specviz.analysis.benchmark.phases.passes import phase_figures
from specviz.analysis.benchmark.phases.shape import Shape
from specviz.analysis.benchmark.results import ArmState, Slo
from specviz.analysis.benchmark.summary import summarise
from specviz.analysis.interval import ratio_interval

SHAPE_PHASES = ("concurrency 1", "concurrency 4")
OFF = ArmState("off", 0, "vllm", "baseline", None, "m", None, None, None, None, 0, 0, None, None)
ON = replace(OFF, arm="on", arm_index=1, method="ngram", k=3)


def row(arm: int, pass_: int, phase: int, sent_ms: float, tpot_ms: float, **given) -> dict:
    """A request of 11 tokens after 20 ms; the second phase began at 1,000 ms and ended at 2,000."""
    return {
        "arm_index": arm, "server_group": 0, "round_id": f"{arm}-{pass_}", "repetition": pass_,
        "traffic": "ramp", "phase": phase, "temperature": 0.0, "status": "finished",
        "concurrency": pd.NA, "request_rate": math.nan,
        "phase_ms": [0.0, 1000.0, 2000.0], "sent_ms": sent_ms, "ttft_ms": 20.0,
        "tpot_ms": tpot_ms, "e2el_ms": 20.0 + 10 * tpot_ms, "output_tokens": 11,
        "num_draft_tokens": 30, "num_accepted_tokens": 6, **given,
    }  # fmt: skip


LIMIT = Slo(tpot_ms=50.0)


def of(*rows: dict, slo: Slo = LIMIT, requests: int = 4) -> dict:
    """The figures of both arms by (arm, phase, temperature)."""
    frame = pd.DataFrame(rows).astype(
        {"output_tokens": "Int64", "num_draft_tokens": "Int64", "num_accepted_tokens": "Int64"}
    )
    shape = Shape("ramp", SHAPE_PHASES, dict.fromkeys(frame["round_id"], requests))
    found = phase_figures([OFF, ON], frame, [shape], slo)
    return {(one.arm_index, one.phase, one.temperature): one for one in found}


def one_pass(arm: int, pass_: int, tpot_ms: float, **given) -> list[dict]:
    """Two requests in each phase; the second one ends in the next phase if it has one."""
    return [
        row(arm, pass_, 0, 0.0, tpot_ms, **given),
        row(arm, pass_, 0, 900.0, tpot_ms, **given),
        row(arm, pass_, 1, 1100.0, tpot_ms, **given),
        row(arm, pass_, 1, 1200.0, 3 * tpot_ms, **given),
    ]


def test_a_request_counts_where_it_was_sent_and_for_goodput_where_it_ended() -> None:
    found = of(*one_pass(0, 0, 20.0))
    first, second, whole = (found[0, phase, None] for phase in (0, 1, None))
    assert (first.requests, second.requests, whole.requests) == (2, 2, 4)
    # 900 + 220 ms is in the second phase; the last request misses the 50 ms per token
    assert first.request_goodput.value == pytest.approx(1.0)
    assert second.request_goodput.value == pytest.approx(2.0)
    assert whole.request_goodput.value == pytest.approx(1.5)
    assert second.output_throughput.value == pytest.approx(33.0)
    assert first.tpot_ms.value == pytest.approx(20.0)
    assert second.tpot_ms.value == pytest.approx(40.0)
    assert whole.draft_acceptance_rate.value == pytest.approx(0.2)
    assert first.num_draft_tokens == 60


def test_one_pass_has_no_interval_and_equal_passes_one_of_no_width() -> None:
    alone = of(*one_pass(0, 0, 20.0))[0, None, None]
    assert (alone.tpot_ms.low, alone.tpot_ms.high) == (None, None)
    equal = of(*(each for pass_ in range(3) for each in one_pass(0, pass_, 20.0)))[0, None, None]
    assert equal.passes == 3
    assert (equal.tpot_ms.low, equal.tpot_ms.high) == pytest.approx((30.0, 30.0))


def both(shifts: list[float]) -> dict:
    """Passes that differ much between each other and not between the arms: `on` halves TPOT."""
    rows = []
    for pass_, shift in enumerate(shifts):
        rows += one_pass(0, pass_, 20.0 * shift) + one_pass(1, pass_, 10.0 * shift)
    return of(*rows)


def test_arms_are_compared_pass_by_pass() -> None:
    found = both([1.0, 1.3, 0.7, 1.1, 0.9])
    gain = found[1, None, None].versus(0).tpot_ms
    assert gain.ratio == pytest.approx(2.0)
    assert (gain.low, gain.high) == pytest.approx((2.0, 2.0))  # what passes share is no noise
    assert gain.verdict == "faster"
    assert found[0, None, None].versus(1).tpot_ms.ratio == pytest.approx(0.5)
    own = found[1, None, None].tpot_ms
    assert own.high / own.low > 1.2


def test_the_interval_is_that_of_the_one_estimator_over_passes() -> None:
    rng = np.random.default_rng(3)
    tpots = rng.uniform(10, 40, size=(5, 2))
    rows = []
    for pass_, (off, on) in enumerate(tpots):
        rows += one_pass(0, pass_, off) + one_pass(1, pass_, on)
    gain = of(*rows)[1, None, None].versus(0).tpot_ms
    # per pass: 10 tokens at each of 1, 1, 1 and 3 times the TPOT; on / off inverted is the gain
    totals = np.array([[60.0 * on, 40.0, 60.0 * off, 40.0] for off, on in tpots])
    assert (gain.low, gain.high) == pytest.approx(ratio_interval(totals, 20))


def test_a_pass_that_is_not_whole_is_in_no_figure() -> None:
    rows = one_pass(0, 0, 20.0) + one_pass(0, 1, 90.0)[:-1]
    assert of(*rows)[0, None, None].passes == 1
    unfinished = [each | {"phase_ms": None} for each in one_pass(0, 2, 90.0)]
    assert of(*rows, *unfinished)[0, None, None].tpot_ms.value == pytest.approx(30.0)


def test_a_request_that_failed_met_nothing_and_is_counted() -> None:
    nothing = {name: math.nan for name in ("ttft_ms", "tpot_ms", "e2el_ms")}
    lost = {"status": "failed", "output_tokens": None, **nothing}
    rows = one_pass(0, 0, 20.0)
    rows[0] |= lost
    found = of(*rows)[0, 0, None]
    assert (found.requests, found.failed) == (2, 1)
    assert found.request_goodput.value == 0.0
    assert found.tpot_ms.value == pytest.approx(20.0)


def test_temperatures_are_told_apart() -> None:
    rows = one_pass(0, 0, 20.0)
    rows[3] |= {"temperature": 1.3, "num_accepted_tokens": 0}
    found = of(*rows)
    assert found[0, None, 1.3].tpot_ms.value == pytest.approx(60.0)
    assert found[0, None, 0.0].tpot_ms.value == pytest.approx(20.0)
    assert found[0, 1, 1.3].draft_acceptance_rate.value == 0.0
    assert (0, 0, 1.3) not in found  # nothing was sent at it there


def test_without_an_slo_there_is_no_goodput() -> None:
    assert of(*one_pass(0, 0, 20.0), slo=Slo())[0, None, None].request_goodput is None


def test_nothing_drafted_has_no_acceptance_and_unknown_counts_none() -> None:
    plain = of(*one_pass(0, 0, 20.0, num_draft_tokens=0, num_accepted_tokens=0))
    assert plain[0, None, None].draft_acceptance_rate is None
    assert plain[0, None, None].num_draft_tokens == 0
    silent = of(*one_pass(0, 0, 20.0, num_draft_tokens=None, num_accepted_tokens=None))
    assert silent[0, None, None].num_draft_tokens is None


def test_traffic_is_in_no_cell() -> None:
    rows = [each | {"category": None, "block": "b", "queue_ms": 0.0} for each in one_pass(0, 0, 9)]
    results = summarise([OFF], pd.DataFrame(rows), pd.DataFrame(), Slo())
    assert not results.cells and not results.phases  # no shape: the plan said nothing of it


def test_all_figures_are_there_for_every_slice() -> None:
    found = both([1.0, 1.1, 0.9])
    assert {type(one) for one in found.values()} == {PhaseFigures}
    assert {key[:2] for key in found} == {(arm, phase) for arm in (0, 1) for phase in (None, 0, 1)}
