"""What a benchmark's results and a server's metrics show, and what they do not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from specviz.analysis.advisor.deployment import deployment_of
from specviz.analysis.advisor.evidence import Kind
from specviz.analysis.advisor.recommend import recommend
from specviz.analysis.benchmark.results import Acceptance, ArmState, Cell, Results, Speedup
from specviz.config import RunStatus
from specviz.known_facts import facts_of_benchmark, facts_of_load
from specviz.methods import Method
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.probe import FoundServer
from specviz.servers.metrics import ServerLoad
from specviz.servers.vllm.dialect import VLLM
from specviz.servers.vllm.metrics import parse_load
from specviz.store.benchmarks.rows import BenchmarkRow

ROW = BenchmarkRow(
    "0123456789abcdef", "made up", RunStatus.FINISHED, datetime(2026, 1, 1, tzinfo=UTC), None,
    None, "", 20, 20, 1, "1 × GPU", None, "0",
)  # fmt: skip

PLAIN = Cell(
    arm="baseline", arm_index=0, method="baseline", k=None, engine="vllm", draft=None,
    category=None, temperature=0.0, concurrency=1, request_rate=None, prompts=10, requests=10,
    failed=0, output_tokens=1500, ttft_ms=None, tpot_ms=None, step_ms=None, e2el_ms=None,
    queue_ms=None, output_throughput=50.0, request_throughput=0.5, request_goodput=None,
    acceptance=None, speedup=None, memory_bytes=None, memory_source=None, gpu_utilization=0.4,
)  # fmt: skip
DRAFTED = replace(
    PLAIN, arm="eagle3 · K 5", arm_index=1, method="eagle3", k=5, draft="head",
    acceptance=Acceptance(0.7, 0.7, 4.5, 4.5, 0.8, (), (), 100, 500, 350),
    speedup=Speedup(1.8, 1.6, 2.0, 10, 0, "time"),
)  # fmt: skip
BUSY = replace(PLAIN, concurrency=16, gpu_utilization=0.9, output_tokens=2000)


def arm(index: int, method: str, finished: int = 10) -> ArmState:
    name = f"{method} {index}"
    return ArmState(
        name, index, "vllm", method, None, "m", None, None, None, None, finished, 10, None, 0
    )


def results(*cells: Cell, arms: tuple[ArmState, ...] = ()) -> Results:
    return Results(arms, cells, (), (), ())


def test_a_benchmark_answers_what_it_measured() -> None:
    found = facts_of_benchmark(
        ROW, results(PLAIN, DRAFTED, arms=(arm(0, "baseline"), arm(1, "eagle3"))), None, None
    )
    assert found.answers == {"output_tokens": 150.0, "gpu_utilization": 0.4, "draft_fits": True}
    assert {source.kind for source in found.sources.values()} == {Kind.MEASURED}
    assert 'benchmark "made up" (01234567)' in found.sources["output_tokens"].text
    assert "1 × GPU" in found.sources["draft_fits"].text
    advice = recommend(deployment_of({}, found))
    assert advice.method is Method.EAGLE3
    assert advice.draft == "head"
    assert advice.tree.nodes["acceptance"].value == 0.7


def test_utilisation_is_that_of_the_load_in_question() -> None:
    measured = results(PLAIN, BUSY, DRAFTED)
    assert facts_of_benchmark(ROW, measured, None, 8).answers["gpu_utilization"] == 0.9
    beyond = facts_of_benchmark(ROW, measured, None, 32)
    assert "gpu_utilization" not in beyond.answers
    assert any("no plain decoding at this load" in note for note in beyond.notes)


def test_what_was_not_seen_is_not_answered() -> None:
    blind = replace(PLAIN, gpu_utilization=None, output_tokens=None)
    found = facts_of_benchmark(ROW, results(blind, arms=(arm(1, "eagle3", 0),)), None, None)
    assert found.answers == {}
    assert any("GPU utilisation was not measured" in note for note in found.notes)


def test_arms_without_weights_do_not_say_that_a_draft_fits() -> None:
    found = facts_of_benchmark(ROW, results(PLAIN, arms=(arm(1, "ngram"),)), None, None)
    assert "draft_fits" not in found.answers


METRICS = """
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0"} 5.0
vllm:num_requests_running{engine="1"} 2.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0"} 3.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0"} 0.4
vllm:kv_cache_usage_perc{engine="1"} 0.9
# TYPE vllm:num_preemptions counter
vllm:num_preemptions_total{engine="0"} 2.0
# TYPE vllm:request_generation_tokens histogram
vllm:request_generation_tokens_bucket{le="1.0"} 0.0
vllm:request_generation_tokens_bucket{le="+Inf"} 4.0
vllm:request_generation_tokens_count{engine="0"} 4.0
vllm:request_generation_tokens_sum{engine="0"} 900.0
"""

SERVER = FoundServer(
    "http://127.0.0.1:8000", "m", ("m",), VLLM, Capabilities(version="0.32.0", speculates=True)
)


def test_a_metrics_page_is_read_over_all_engines() -> None:
    load = parse_load(METRICS)
    assert load == ServerLoad(7, 3, 0.9, 2, 900, 4)
    assert load.mean_output_tokens == 225
    assert parse_load("") == ServerLoad()
    assert ServerLoad(output_tokens=0, requests=0).mean_output_tokens is None


def test_a_server_answers_its_load() -> None:
    found = facts_of_load(SERVER, parse_load(METRICS))
    assert found.answers == {
        "concurrency": 10, "output_tokens": 225, "memory_pressure": True, "draft_fits": True,
    }  # fmt: skip
    assert "2 requests preempted" in found.sources["memory_pressure"].text


@pytest.mark.parametrize("load", [ServerLoad(), ServerLoad(running=0)])
def test_an_idle_or_silent_server_does_not(load: ServerLoad) -> None:
    found = facts_of_load(replace(SERVER, capabilities=Capabilities()), load)
    assert found.answers == {}
    assert any("idle" in note for note in found.notes)
