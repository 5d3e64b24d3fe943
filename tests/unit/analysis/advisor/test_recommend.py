"""What follows from the tree: technique, K, figures, contradictions, router thresholds."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import Any

import pytest

from specviz.analysis.advisor.branches import Speculate
from specviz.analysis.advisor.deployment import Deployment, KnownFacts, deployment_of
from specviz.analysis.advisor.evidence import Kind
from specviz.analysis.advisor.recommend import Recommendation, recommend
from specviz.analysis.advisor.sentences import certainty, decision, figure_text, gain_of, headline
from specviz.errors import UsageError
from specviz.methods import Method
from tests.support.analysis.benchmark_options import measured, option

ON = Deployment(gpu_utilization=0.3, output_tokens=300, draft_fits=True)
EAGLE = replace(ON, target_swapped=False, spare_memory_gb=20)


def toml_of(found: Recommendation) -> dict[str, Any]:
    assert found.router is not None
    return tomllib.loads(found.router.toml())["speculation"]


def test_the_documents_answer_without_a_benchmark() -> None:
    found = recommend(EAGLE)
    assert (found.speculate, found.technique, found.method) == (
        Speculate.ON,
        "EAGLE-3",
        Method.EAGLE3,
    )
    assert found.k is not None
    assert (found.k.k, found.k.low, found.k.high) == (5, 5, 7)
    assert {figure.evidence.kind for figure in found.expected} == {Kind.PUBLISHED}
    texts = {figure_text(figure) for figure in found.expected}
    assert {"2.89×", "0.810", "12.3 ms", "1.80 GB"} <= texts
    assert headline(found) == decision(found) == "On: EAGLE-3, K 5"
    assert gain_of(found) is None
    assert certainty(found).startswith("By rules of thumb, nothing was measured; 4 open questions")
    assert toml_of(found) == {
        "method": "eagle3",
        "num_speculative_tokens": 5,
        "concurrency": {"on_up_to": 31, "off_from": 32},
        "temperature": {"on_up_to": 1, "off_above": 1},
    }


def test_published_figures_are_those_of_this_very_load() -> None:
    found = recommend(replace(EAGLE, temperature=0.7, concurrency=8, text="translation"))
    speedups = [figure.value for figure in found.expected if figure.name == "speed-up"]
    assert speedups == [2.89, 2.08, 1.98, 3.05]
    none = recommend(replace(EAGLE, temperature=0.6))
    assert [figure.value for figure in none.expected if figure.name == "speed-up"] == [2.89]


@pytest.mark.parametrize(
    ("changed", "span"),
    [
        ({"text": "code_generation"}, (5, 7)),
        ({"text": "creative_writing"}, (3, 4)),
        ({"acceptance": 0.6}, (7, 10)),
        ({"acceptance": 0.59}, (3, 5)),
        ({"text": "creative_writing", "acceptance": 0.9}, (3, 4)),
    ],
)
def test_k_by_text_and_by_strength_of_the_draft(
    changed: dict[str, Any], span: tuple[int, int]
) -> None:
    k = recommend(replace(EAGLE, **changed)).k
    assert k is not None
    assert (k.low, k.high) == span
    assert k.k == k.low


@pytest.mark.parametrize(
    ("slo", "limit", "k", "named"),
    [
        ("tpot", 20, 5, "under 20 ms"),
        ("tpot", 34, 5, "under 20 ms"),
        ("tpot", 35, 5, "under 35 ms"),
        ("throughput", None, 7, "Maximum throughput"),
        ("cost", None, 5, "Minimum cost"),
    ],
)
def test_an_aim_takes_the_row_that_keeps_it(
    slo: str, limit: float | None, k: int, named: str
) -> None:
    found = recommend(replace(EAGLE, slo=slo, slo_tpot_ms=limit))
    assert found.slo is not None and found.k is not None
    assert named in found.slo.slo
    assert found.k.k == k


def test_an_aim_that_no_row_keeps_and_one_without_its_limit_are_said() -> None:
    tight = recommend(replace(EAGLE, slo="tpot", slo_tpot_ms=15))
    assert tight.slo is None
    assert any("No technique in the documents' table" in reason.text for reason in tight.reasons)
    open_aim = recommend(replace(EAGLE, slo="tpot"))
    assert "slo_tpot_ms" in [missing.name for missing in open_aim.missing]


def test_an_aim_and_the_tree_may_contradict_each_other() -> None:
    found = recommend(replace(EAGLE, spare_memory_gb=4, light_training=True, slo="cost"))
    assert found.technique == "Medusa-2"
    assert any("table says EAGLE-3" in one.says for one in found.contradictions)


def test_the_throughput_aim_has_its_concurrency() -> None:
    def limited(concurrency: int) -> bool:
        found = recommend(replace(EAGLE, slo="throughput", concurrency=concurrency))
        return any("holds up to concurrency 8" in reason.text for reason in found.reasons)

    assert not limited(8)
    assert limited(9)


def test_what_was_measured_wins_and_the_rule_is_shown_beside_it() -> None:
    benchmark = measured(
        option(1.4, Method.MEDUSA, k=3), option(1.9, k=9), option(1.87, k=7), option(1.5, k=3)
    )
    found = recommend(replace(EAGLE, spare_memory_gb=4, light_training=True, measured=benchmark))
    assert found.leaf is not None and found.leaf.id == "best_measured"
    assert found.method is Method.EAGLE3
    assert found.alternatives == (Method.MEDUSA,)
    assert found.k is not None
    assert (found.k.k, found.k.low, found.k.high) == (9, 7, 9)  # 1.87 is within 2 % of 1.9
    first = found.expected[0]
    assert (first.value, first.evidence.kind) == (1.9, Kind.MEASURED)
    assert (first.low, first.high) == (pytest.approx(1.8), pytest.approx(2.0))
    says = [one.says for one in found.contradictions]
    assert "The documents' tree says Medusa-2." in says
    assert "K from 5 to 7 (optimum)." in says


def test_a_measured_gain_contradicts_the_rule_that_says_off() -> None:
    benchmark = measured(option(1.4, concurrency=64))
    found = recommend(replace(EAGLE, concurrency=64, measured=benchmark))
    assert found.speculate is Speculate.ON
    (one,) = found.contradictions
    assert "says off: concurrency at least 32 (64)" in one.says
    assert one.wins == "the measured speed-up"
    every = replace(EAGLE, concurrency=64, memory_pressure=True, gpu_utilization=0.9)
    says = [one.says for one in recommend(replace(every, measured=benchmark)).contradictions]
    assert says == [
        "The rule says off: memory pressure high.",
        "The rule says off: concurrency at least 32 (64).",
        "The rule says off: GPU utilisation above 80 % (90 %).",
    ]
    loss = recommend(replace(EAGLE, measured=measured(option(0.8))))
    assert loss.speculate is Speculate.OFF
    assert loss.method is None and loss.k is None and loss.expected == ()
    assert "The rules of thumb say on." in [one.says for one in loss.contradictions]


def test_acceptance_and_speed_up_may_contradict_each_other() -> None:
    weak = recommend(replace(ON, measured=measured(option(1.4, acceptance=0.41))))
    assert any(one.says.startswith("Acceptance 41 %") for one in weak.contradictions)
    strong = recommend(replace(ON, measured=measured(option(0.8, acceptance=0.75))))
    assert any(one.says.startswith("Acceptance 75 %") for one in strong.contradictions)


def test_only_the_load_that_was_measured_is_answered() -> None:
    benchmark = measured(
        option(1.8), option(1.3, concurrency=8), option(0.8, concurrency=16),
        option(1.5, temperature=0.7),
    )  # fmt: skip

    def ratio(**load: float) -> float | None:
        found = recommend(replace(EAGLE, measured=benchmark, **load))
        return found.tree.nodes["speedup"].value

    assert ratio() == 1.8
    assert ratio(concurrency=2) == 1.3  # the next higher load
    assert ratio(concurrency=16) == 0.8
    assert ratio(concurrency=17) is None
    assert ratio(temperature=0.3) == 1.5
    assert ratio(temperature=0.8) is None


def test_methods_that_cannot_be_used_are_left_out() -> None:
    benchmark = measured(option(1.9), option(1.4, Method.DRAFT_MODEL), option(1.2, Method.NGRAM))
    swapped = recommend(replace(ON, target_swapped=True, measured=benchmark))
    assert swapped.method is Method.DRAFT_MODEL  # EAGLE-3 would have to be trained again
    tight = recommend(replace(ON, draft_fits=False, measured=benchmark))
    assert tight.method is Method.NGRAM


def test_a_limit_on_tpot_leaves_out_what_does_not_keep_it() -> None:
    benchmark = measured(option(1.9, tpot_p95_ms=30.0), option(1.5, Method.MEDUSA, tpot_p95_ms=20))
    found = recommend(replace(ON, slo="tpot", slo_tpot_ms=25, measured=benchmark))
    assert found.method is Method.MEDUSA
    none = recommend(replace(EAGLE, slo="tpot", slo_tpot_ms=5, measured=benchmark))
    assert none.tree.nodes["speedup"].answer is None
    assert any("No measured arm keeps" in reason.text for reason in none.reasons)


def test_router_limits_are_where_the_interval_meets_one() -> None:
    benchmark = measured(
        option(1.6, width=0.2), option(1.2, width=0.2, concurrency=4),
        option(0.8, width=0.2, concurrency=16),
        option(1.3, width=0.1, temperature=1.0), option(0.9, width=0.2, temperature=1.5),
    )  # fmt: skip
    found = toml_of(recommend(replace(ON, measured=benchmark)))
    # Low: 1.4, 1.0, 0.6, so 1 at concurrency 4. High: 1.8, 1.4, 1.0, so 1 at 16.
    assert found["concurrency"] == {"on_up_to": 4, "off_from": 16}
    # Low: 1.4, 1.2, 0.7: 1 at 1.0 + 0.5 · 0.2 / 0.5. High: 1.1 at 1.5: not crossed.
    assert found["temperature"] == {"on_up_to": 1.2}
    with pytest.raises(KeyError):
        found["temperature"]["off_above"]


def test_router_limits_beyond_the_measured_loads_are_not_known() -> None:
    found = recommend(replace(ON, measured=measured(option(1.8), option(1.5, concurrency=8))))
    assert toml_of(found)["concurrency"] == {"on_up_to": 8}
    assert found.router is not None
    assert "# off_from is not known" in found.router.toml()


def test_missing_inputs_are_named_once_and_the_waiting_one_first() -> None:
    names = [missing.name for missing in recommend(Deployment()).missing]
    assert names[0] == "gpu_utilization"
    assert len(names) == len(set(names))
    assert {"memory_pressure", "temperature", "concurrency", "target_swapped"} <= set(names)
    everything = replace(EAGLE, memory_pressure=False, temperature=0, concurrency=1, acceptance=0.8)
    assert recommend(everything).missing == ()
    assert recommend(replace(ON, temperature=1.5)).missing == ()  # off, whatever the rest


def test_what_was_entered_goes_before_what_was_read() -> None:
    def read(value: float, name: str) -> KnownFacts:
        from specviz.analysis.advisor.evidence import Evidence

        return KnownFacts(
            {"output_tokens": value}, {"output_tokens": Evidence(Kind.MEASURED, name)}
        )

    both = deployment_of({}, read(50, "first"), read(70, "second"))
    assert both.output_tokens == 50
    assert both.source("output_tokens").text == "first"
    entered = deployment_of({"output_tokens": 200}, read(50, "first"))
    assert entered.output_tokens == 200
    assert entered.source("output_tokens").kind is Kind.TYPED


def test_values_out_of_range_are_named() -> None:
    with pytest.raises(UsageError, match="gpu_utilization is a number"):
        Deployment(gpu_utilization=80)
    with pytest.raises(UsageError, match="concurrency is a whole number"):
        Deployment(concurrency=0)
    with pytest.raises(UsageError, match="text is one of short_qa"):
        Deployment(text="poems")


def test_a_recommendation_is_json() -> None:
    shown = recommend(replace(ON, measured=measured(option(1.5)))).to_dict()
    again = json.loads(json.dumps(shown))
    assert again["speculate"] == "on"
    assert {node["id"] for node in again["tree"]} >= {"speedup", "temperature"}
