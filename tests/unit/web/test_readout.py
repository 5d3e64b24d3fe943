"""The figures row and the verdict line, in the words a reader sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specviz.analysis.lossless import Comparison
from specviz.analysis.metrics import Metrics
from specviz.analysis.readout import SPEEDUP, mean_of_runs, readout, verdict
from specviz.analysis.text import digits
from specviz.config import EngineKind, RunConfig, Sampling
from specviz.methods import Method
from specviz.trace import Fidelity, TopToken

METRICS = Metrics(
    num_steps=31,
    num_drafts=30,
    num_draft_tokens=150,
    num_accepted_tokens=96,
    draft_acceptance_rate=0.64,
    mean_acceptance_length=4.2,
    alpha=0.8,
    acceptance_rate_per_pos=(0.9,),
    tokens_per_step=3.1,
    output_tokens=96,
    output_throughput=41.25,
    ttft_ms=43.0,
    tpot_ms=24.0,
    e2el_ms=2000.0,
)
BASELINE = replace(METRICS, e2el_ms=3420.0, draft_acceptance_rate=None)
GREEDY = RunConfig(EngineKind.VLLM, Method.BASELINE)
SAMPLED = replace(GREEDY, sampling=Sampling(temperature=0.8))


def figures(**changes: object) -> dict[str, tuple[str | None, str | None]]:
    options: dict[str, object] = {
        "metrics": METRICS,
        "fidelity": Fidelity.TRACED,
        "baseline": BASELINE,
        "is_baseline": False,
        "finished": True,
        **changes,
    }
    row = readout(options.pop("metrics"), options.pop("fidelity"), **options)  # type: ignore[arg-type]
    return {str(figure["label"]): (figure["value"], figure["reason"]) for figure in row}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.6374, "0.637"),
        (4.1, "4.10"),
        (41.25, "41.2"),
        (1240.4, "1,240"),
        (0.0, "0.000"),
        (9.996, "10.0"),
        (0.9996, "1.00"),
        (None, None),
    ],
)
def test_three_significant_digits(value: float | None, shown: str | None) -> None:
    assert digits(value) == shown


def test_a_finished_arm() -> None:
    row = figures()
    assert row["output"] == ("96 tokens in 31 passes", None)
    assert row[SPEEDUP] == ("1.7×", None)
    assert row["acceptance"] == ("0.640", None)
    assert row["tok/s"] == ("41.2", None)


def test_every_missing_figure_says_why() -> None:
    row = figures(metrics=replace(METRICS, output_throughput=None, tpot_ms=None), baseline=None)
    assert all(reason for value, reason in row.values() if value is None)


def test_the_order_never_changes() -> None:
    assert list(figures()) == list(figures(metrics=None)) == list(figures(is_baseline=True))


def test_outputs_of_different_length_give_no_speed_up() -> None:
    value, reason = figures(baseline=replace(BASELINE, output_tokens=95))[SPEEDUP]
    assert value is None and reason is not None and "length" in reason


def test_after_several_runs_the_speed_up_has_an_interval() -> None:
    row = figures(earlier=(1.6, 1.8))
    assert SPEEDUP not in row and row["speed-up, 3 runs"] == ("1.7× (1.5 to 2)", None)
    mean, low, high = mean_of_runs([2.0, 2.0, 2.0])
    assert (mean, low, high) == pytest.approx((2.0, 2.0, 2.0))
    wide, narrow = mean_of_runs([1.0, 2.0]), mean_of_runs([1.0, 2.0] * 4)
    assert wide[0] == pytest.approx(narrow[0]) and wide[1] < narrow[1] < narrow[2] < wide[2]


def test_the_headline_counts_passes_that_are_known() -> None:
    one = replace(METRICS, output_tokens=1, num_steps=1)
    assert figures(metrics=one)["output"] == ("1 token in 1 pass", None)
    no_ids = figures(metrics=replace(METRICS, output_tokens=None))["output"]
    assert no_ids == (None, "the server streams text without token ids")
    assert figures(fidelity=Fidelity.INFERRED)["output"][0] is None


def test_a_baseline_drafts_nothing() -> None:
    assert figures(metrics=BASELINE, is_baseline=True)["acceptance"][1] == (
        "plain decoding drafts nothing"
    )


def test_verdict_of_equal_outputs() -> None:
    line = verdict([GREEDY, GREEDY], [Comparison(96, None)], has_baseline=True)
    assert line == {"ok": True, "text": "output equals the baseline, 96 of 96 tokens"}


def test_verdict_of_a_divergence_has_position_and_probabilities() -> None:
    top = (TopToken(1, "a", 0.5), TopToken(2, "b", 0.49))
    line = verdict([GREEDY, GREEDY], [Comparison(9, 3, "a", "b", top)], has_baseline=True)
    assert line is not None and line["ok"] is False
    assert "token 4" in line["text"] and "0.490" in line["text"]


def test_a_divergence_says_if_a_near_tie_can_go_either_way() -> None:
    parted = [Comparison(9, 3, "a", "b")]
    said = {
        may_part: verdict([GREEDY, GREEDY], parted, has_baseline=True, may_part=may_part)
        for may_part in (False, True)
    }
    assert said[True] is not None and "near tie" in said[True]["text"]
    assert said[False] is not None and "near tie" not in said[False]["text"]


@pytest.mark.parametrize(
    ("arms", "has_baseline", "says"),
    [
        ([GREEDY, GREEDY], False, "no baseline"),
        ([SAMPLED, SAMPLED], True, "by chance"),
        ([GREEDY, GREEDY], True, "token ids"),
    ],
)
def test_no_verdict_says_why(arms: list[RunConfig], has_baseline: bool, says: str) -> None:
    line = verdict(arms, [], has_baseline=has_baseline)
    assert line is not None and line["ok"] is None and says in line["text"]


def test_one_arm_needs_no_verdict() -> None:
    assert verdict([GREEDY], [], has_baseline=True) is None
