"""A ramp of requests at mixed temperatures on real servers: what was sent and measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.analysis.benchmark.results import CounterCheck
from tests.support.specviz_command import specviz

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

ARMS = {
    "llama.cpp": """
[[arms]]
engine = "llama.cpp"
method = "baseline"
[[arms]]
engine = "llama.cpp"
method = "draft_model"
k = 3
""",
    "vllm": """
[[arms]]
engine = "vllm"
method = "baseline"
[[arms]]
engine = "vllm"
method = "draft_model"
k = 3
[[arms]]
engine = "vllm"
method = "draft_model"
k = 3
schedule = [[1, 2, 3], [3, 256, 0]]
[[arms]]
engine = "vllm"
method = "draft_model"
k = 3
policy = "policy.toml"
""",
}

POLICY = """
version = 1
num_speculative_tokens = 3
requests_running = [2, 16]
hold_steps = 1
[[rows]]
temperature = 1.0
k = [3, 0]
[[rows]]
k = [0, 0]
"""


def measured(folder: Path, engine: str) -> dict:
    plan = folder / "plan.toml"
    (folder / "policy.toml").write_text(POLICY)
    plan.write_text(
        'name = "ramp"\nrepetitions = 2\nmax_tokens = 24\nwarmup = 2\n'
        "[slo]\ntpot_ms = 1000\n"
        '[[traffic]]\nname = "up and down"\nramp = [1, 4, 1]\nrequests_per_stream = 2\n'
        f"temperatures = [0.0, 0.7, 1.3]\n{ARMS[engine]}"
    )
    return specviz(folder / "runs.duckdb", "bench", str(plan), timeout_s=500)["results"]


@pytest.mark.parametrize("engine", ARMS)
def test_every_arm_goes_up_and_down_with_the_same_requests(tmp_path: Path, engine: str) -> None:
    results = measured(tmp_path, engine)
    whole = [one for one in results["phases"] if (one["phase"], one["temperature"]) == (None, None)]
    assert [(one["passes"], one["requests"], one["failed"]) for one in whole] == [(2, 40, 0)] * len(
        results["arms"]
    )
    for one in whole:
        assert one["request_goodput"]["low"] < one["request_goodput"]["high"]
        assert {other["passes"] for other in one["compared"]} == {2}
    by_phase = [one for one in results["phases"] if one["arm_index"] == 1 and one["phase"] == 2]
    assert {one["load"] for one in by_phase} == {"concurrency 4"}
    assert {one["temperature"] for one in by_phase} == {None, 0.0, 0.7, 1.3}
    assert all(CounterCheck(**check).agrees for check in results["checks"]), results["checks"]
    assert [one["num_draft_tokens"] > 0 for one in whole[1:]] == [True] * (len(whole) - 1)
    if engine == "vllm":
        drafted = {(one["arm_index"], one["phase"]): one["num_draft_tokens"]
                   for one in results["phases"] if one["temperature"] is None}  # fmt: skip
        assert drafted[2, 0] == pytest.approx(drafted[1, 0], rel=0.5)  # alone: both draft
        assert drafted[2, 2] < 0.5 * drafted[1, 2]  # four at once: the schedule says 0
        hot = [one["num_draft_tokens"] for one in results["phases"]
               if one["arm_index"] == 3 and one["temperature"] == 1.3]  # fmt: skip
        assert hot and not any(hot)  # the policy says 0 above temperature 1
        assert drafted[3, 0] > 0
