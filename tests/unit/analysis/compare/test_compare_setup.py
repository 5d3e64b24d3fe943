"""What differs between configurations, which of it bars comparing times, names, positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from specviz.analysis.arm_names import distinguished
from specviz.analysis.compare.config_diff import config_diff, facts_of_runs
from specviz.analysis.compare.judged import judged_there
from specviz.analysis.compare.positions import rates_by_position
from specviz.analysis.compare.reasons import not_for_times, to_mind
from specviz.config import EngineKind, RunConfig, Sampling
from specviz.methods import Method
from specviz.trace import (
    ROOT,
    EmittedToken,
    Fidelity,
    Origin,
    Step,
    TokenDecision,
    TopToken,
    Trace,
    Verdict,
)

PLAIN = RunConfig(EngineKind.VLLM, Method.NGRAM, 4, model="m", hardware="H200", traced=False)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (replace(PLAIN, hardware="L4"), "other hardware (L4, the reference H200)"),
        (replace(PLAIN, hardware=None), "other hardware (unknown, the reference H200)"),
        (replace(PLAIN, traced=True), "it was traced, which takes time, and the reference was not"),
        (replace(PLAIN, concurrency=8), "other load (concurrency 8, the reference concurrency 1)"),
        (replace(PLAIN, model=None), "another model (unknown, the reference m)"),
    ],
)
def test_what_bars_comparing_times_is_named(other: RunConfig, said: str) -> None:
    assert not_for_times(PLAIN, other) == [said]
    assert len(not_for_times(other, PLAIN)) == 1


def test_another_method_or_k_bars_nothing() -> None:
    assert not_for_times(PLAIN, RunConfig(EngineKind.VLLM, Method.EAGLE3, 7, model="m",
                                          hardware="H200", traced=False)) == []  # fmt: skip


def test_what_to_keep_in_mind() -> None:
    warm = replace(PLAIN, sampling=Sampling(temperature=0.7))
    assert to_mind(PLAIN, PLAIN, side_by_side=True) == []
    assert "at another time" in to_mind(PLAIN, PLAIN, side_by_side=False)[0]
    assert to_mind(PLAIN, warm, side_by_side=True)[0].startswith("temperature 0.7, the reference 0")
    assert to_mind(warm, warm, side_by_side=True) == [
        "sampled answers: texts differ from run to run"
    ]


def test_fields_that_differ_stand_apart_from_the_same_ones() -> None:
    eagle = replace(PLAIN, method=Method.EAGLE3, options={"shape": "tree"})
    diff = config_diff(facts_of_runs([PLAIN, eagle]))
    assert {field.name: field.values for field in diff.differing} == {
        "method": ("ngram", "eagle3"),
        "option shape": (None, "tree"),
    }
    assert ("H200", "H200") in [field.values for field in diff.same]


def test_a_run_stored_without_its_dtype_was_in_bfloat16() -> None:
    old = replace(PLAIN, engine=EngineKind.EMBEDDED, options={})
    new, other = (replace(old, options={"dtype": dtype}) for dtype in ("bfloat16", "float32"))
    server = replace(PLAIN, engine=EngineKind.VLLM)
    assert not config_diff(facts_of_runs([old, new])).differing
    (field,) = config_diff(facts_of_runs([old, other])).differing
    assert (field.name, field.values) == ("option dtype", ("bfloat16", "float32"))
    (engine, field) = config_diff(facts_of_runs([server, new])).differing
    assert (engine.name, field.values) == ("engine", (None, "bfloat16"))


def test_what_is_not_told_is_no_difference() -> None:
    diff = config_diff([{"K": "5", "seed": None}, {"K": "5"}, {"K": "5", "seed": "3"}])
    assert [(field.name, field.values) for field in diff.same] == [("K", ("5", "5", "5"))]
    assert [(field.name, field.values) for field in diff.differing] == [("seed", (None, None, "3"))]


def test_equal_titles_get_what_tells_them_apart() -> None:
    titles = ["ngram", "eagle", "ngram", "ngram"]
    details = [["T 0", "vllm"], ["T 0", "vllm"], ["T 1", "vllm"], ["T 1", "vllm"]]
    assert distinguished(titles, details) == ["ngram · T 0", "eagle", "ngram · T 1 (1)",
                                           "ngram · T 1 (2)"]  # fmt: skip


def requests(*reported: tuple[str, float, list[float] | None]) -> pd.DataFrame:
    columns = ["conversation", "num_drafts", "acceptance_rate_per_pos"]
    return pd.DataFrame(reported, columns=columns)


def test_positions_weigh_requests_by_their_drafts() -> None:
    """10 drafts at 0.5 and 30 at 0.9: 32 of 40; the second position was drafted by one only."""
    rates = rates_by_position(
        requests(("a", 10, [0.5]), ("b", 30, [0.9, 0.4]), ("c", 0, []), ("d", np.nan, None))
    )
    assert [(rate.position, rate.rate) for rate in rates] == [(1, 32 / 40), (2, 12 / 40)]
    assert rates[0].low is None
    assert rates_by_position(requests(("a", 0, []))) == []


def test_positions_have_intervals_over_prompts() -> None:
    rng = np.random.default_rng(0)
    reported = [(f"p{place}", 20, [float(rng.binomial(20, 0.7)) / 20]) for place in range(30)]
    (rate,) = rates_by_position(requests(*reported))
    assert rate.low is not None and rate.high is not None
    assert rate.low < rate.rate < rate.high
    assert rate.high - rate.low == pytest.approx(2 * 1.96 * (0.7 * 0.3 / 600) ** 0.5, rel=0.4)
    same = [(f"p{place}", 20, [0.6]) for place in range(5)]
    (rate,) = rates_by_position(requests(*same))
    assert (rate.low, rate.high) == pytest.approx((0.6, 0.6))


def test_the_targets_probabilities_where_answers_part() -> None:
    top = (TopToken(1, "cat", 0.6), TopToken(2, "dog", 0.3))
    draft = TokenDecision(1, ROOT, 2, "dog", Verdict.REJECTED, target_top=top)
    traced = trace(Step(0, 1.0, (draft,), (EmittedToken(0, 1, "cat", Origin.RECOVERED),)))
    plain = trace(Step(0, 1.0, (), (EmittedToken(0, 3, "cow", Origin.TARGET),)))
    here, there = judged_there(plain, traced)
    assert here is None  # plain decoding judges no draft
    assert there is not None
    assert (there.reference_prob, there.other_prob, there.least) == (None, 0.6, 0.3)
    assert judged_there(traced, traced) == (None, None)


def trace(*steps: Step) -> Trace:
    return Trace("r", Fidelity.TRACED, steps)
