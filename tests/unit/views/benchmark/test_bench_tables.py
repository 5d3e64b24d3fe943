"""A benchmark's results as the page words and tabulates them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest

from specviz.analysis.benchmark.results import (
    Acceptance,
    ArmState,
    Cell,
    CounterCheck,
    Quantiles,
    Results,
    Speedup,
)
from specviz.bench.load.load import Load
from specviz.bench.plan.plan import Grid, Plan, PlanArm
from specviz.bench.progress import BenchPhase, Progress
from specviz.config import EngineKind, RunConfig, RunStatus
from specviz.methods import Method
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.benchmark.checks import requests_per_hour, tokens_per_request
from specviz.views.benchmark.curves import (
    crossover_table,
    k_lines,
    load_lines,
    temperature_lines,
    tpot_spreads,
)
from specviz.views.benchmark.tables import (
    ACCEPTANCE,
    ARM,
    SPEED,
    in_full,
    measured,
    notes,
    results_json,
    size_of,
    speedup_text,
    verdict,
)
from specviz.views.shared.benchmark.plan_text import (
    duration,
    plan_summary,
    progress_line,
    share_done,
)
from specviz.views.shared.published import definitions, shown, sources
from specviz.views.shared.text import escaped

TIMES = Quantiles(36, 2.0, 1.91, 3.0, 4.0, 5.0)
CELL = Cell(
    arm="eagle3 · K 5",
    arm_index=1,
    method="eagle3",
    k=5,
    engine="vllm",
    draft=None,
    category=None,
    temperature=0.0,
    concurrency=1,
    request_rate=None,
    prompts=12,
    requests=24,
    failed=0,
    output_tokens=480,
    ttft_ms=TIMES,
    tpot_ms=TIMES,
    step_ms=None,
    e2el_ms=TIMES,
    queue_ms=TIMES,
    output_throughput=300.0,
    request_throughput=2.5,
    request_goodput=None,
    acceptance=Acceptance(0.6, 0.61, 4.0, 4.1, 0.8, (), (), 10, 50, 30),
    speedup=Speedup(1.5, 1.25, 1.75, 12, 0, "time"),
    memory_bytes=None,
    memory_source=None,
    gpu_utilization=None,
)
ARMS = (
    ArmState("baseline", 0, "vllm", "baseline", None, "m", None, None, "off", 1, 1, 1, None, None),
    ArmState("eagle3 · K 5", 1, "vllm", "eagle3", 5, "m", None, None, "off", 1, 1, 1, None, 0),
)


def config(method: Method, k: int | None = None, url: str | None = None) -> RunConfig:
    return RunConfig(EngineKind.VLLM, method, k, server_url=url)


def plan(**changes: object) -> Plan:
    arms = (PlanArm(config(Method.BASELINE)), PlanArm(config(Method.NGRAM, 4)))
    return Plan(**{"name": "p", "arms": arms, **changes})


def test_the_summary_multiplies_out() -> None:
    loads = (Load(concurrency=1), Load(concurrency=4))
    assert plan_summary(plan(loads=loads, repetitions=2), 24, 24, 6) == (
        "2 arms × 2 loads × 1 temperature × 24 prompts × 2 runs = 192 requests; "
        "2 servers are started"
    )


def test_the_summary_of_arms_that_are_not_measured_everywhere() -> None:
    loads = (Load(concurrency=1), Load(concurrency=4))
    attached = PlanArm(config(Method.NGRAM, 4, "http://h:1"), base_only=True)
    arms = (PlanArm(config(Method.BASELINE, url="http://h:2")), attached)
    text = plan_summary(plan(arms=arms, loads=loads, grid=Grid.AXES), 10, 12, 6)
    assert text == (
        "2 arms at 1 to 2 loads and temperatures (3 in all) × 10 prompts with 12 turns × 1 run = "
        "36 requests; no server is started"
    )


def test_the_baseline_is_measured_again_beside_each_group() -> None:
    arms = tuple(PlanArm(config(Method.NGRAM, k)) for k in (1, 2))
    text = plan_summary(plan(arms=(PlanArm(config(Method.BASELINE)), *arms)), 10, 10, 2)
    assert "= 30 requests, and 10 of the baseline again" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.6, "1 min 0 s"), (100, "1 min 40 s"), (7500, "2 h 5 min"), (-1, "0 s")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_progress_in_words() -> None:
    progress = Progress("id", "p", BenchPhase.RUNNING, None, 312, 1576, 60.0, 100.0, ())
    assert progress_line(progress) == "312 of 1,576 requests · 1 min 40 s left"
    assert "not known before" in progress_line(replace(progress, left_s=None))
    assert progress_line(replace(progress, phase=BenchPhase.PAUSED)).endswith("paused")
    ended = replace(progress, phase=BenchPhase.CANCELLED)
    assert progress_line(ended).endswith("cancelled after 1 min 0 s")
    assert (share_done(1, 0), share_done(5, 4), share_done(1, 4)) == (0.0, 1.0, 0.25)


def test_the_table_has_sensible_digits_and_the_file_all_of_them() -> None:
    table = measured([CELL], {**ARM, **ACCEPTANCE, **SPEED})
    assert table.iloc[0].to_dict() == {
        "arm": "eagle3 · K 5",
        "acceptance rate": "0.600",
        "tok/step": "4.00",
        "TPOT P50 ms": "1.91",
        "TPOT P95 ms": "4.00",
        "E2E speed-up (95 %)": "1.50× (1.25 to 1.75), faster",
    }
    line = in_full([CELL]).iloc[0]
    assert (line["tpot_p50_ms"], line["speedup_low"], line["draft_acceptance_rate"]) == (
        1.91,
        1.25,
        0.6,
    )
    assert line["step_p50_ms"] is None or pd.isna(line["step_p50_ms"])


def test_a_speed_up_without_interval() -> None:
    few = replace(CELL, speedup=Speedup(0.9, None, None, 2, 0, "time"))
    assert speedup_text(few) == "0.90×, not decided: 2 prompts, 5 needed"
    assert speedup_text(replace(CELL, speedup=None)) is None


def test_the_basis_of_cost() -> None:
    assert requests_per_hour(CELL) == "9,000"
    assert requests_per_hour(replace(CELL, request_throughput=None)) is None
    assert tokens_per_request(CELL) == "20.0"
    assert tokens_per_request(replace(CELL, output_tokens=None)) is None


def test_a_note_is_said_once_with_whom_it_is_about() -> None:
    cells = [replace(CELL, arm=f"a{n}", notes=("few",) if n else ("few", "own")) for n in range(5)]
    assert notes(cells) == ["few", "a0: own"]
    assert notes([*cells[1:], replace(CELL, arm="b")]) == ["a1; a2; a3 and 1 more: few"]


def test_a_note_on_every_arm_of_a_category_is_about_the_category() -> None:
    cells = [
        replace(CELL, arm=arm, category=category, notes=(category, arm))
        for category in ("x", "y")
        for arm in ("a", "b")
    ]
    assert notes(cells) == ["x: x", "a: a", "b: b", "y: y"]
    warm = [replace(CELL, temperature=0.7, notes=("n",)), CELL, replace(CELL, arm="b")]
    assert notes(warm) == ["eagle3 · K 5, temperature 0.7: n"]


def test_how_much_a_line_rests_on() -> None:
    assert size_of(CELL) == "12 × 2 runs"
    assert size_of(replace(CELL, requests=12)) == "12"
    assert size_of(replace(CELL, requests=11, failed=1)) == "12, 11 requests, 1 failed"


def test_verdicts() -> None:
    check = CounterCheck("a", 0, 10, 50, 30, 10, 50, 30, 0)
    assert verdict(check) == "agree"
    assert verdict(replace(check, server_drafts=12, server_accepted_tokens=29)) == (
        "differ: drafts by +2, accepted by -1"
    )


def test_one_json_has_the_plan_and_everything_that_was_found() -> None:
    row = BenchmarkRow(
        benchmark_id="b1",
        name="p",
        status=RunStatus.FINISHED,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        finished_at=None,
        error=None,
        plan_toml="x = 1",
        planned=2,
        finished=2,
        servers_at_once=1,
        hardware="h",
        git_revision=None,
        specviz_version="0",
    )
    document = json.loads(results_json(row, Results(ARMS, (CELL,), (), (), ("n",))))
    assert document["benchmark"]["plan_toml"] == "x = 1"
    assert document["results"]["cells"][0]["speedup"]["ratio"] == 1.5


def test_lines_of_the_charts() -> None:
    cells = [
        replace(CELL, arm="baseline", arm_index=0, method="baseline", k=None, acceptance=None),
        replace(CELL, arm="baseline", arm_index=0, method="baseline", k=None, concurrency=4),
        replace(CELL, output_throughput=600.0),
        replace(CELL, output_throughput=200.0, concurrency=4),
        replace(CELL, temperature=0.7),
    ]
    baseline, eagle = load_lines(ARMS, cells[:4])
    assert baseline.crossover is None and eagle.crossover is not None
    table = crossover_table([baseline, eagle])
    assert list(table["arm"]) == ["eagle3 · K 5"]
    assert "pays up to concurrency ~" in table["throughput"][0]
    (line,) = temperature_lines(ARMS, [cells[2], cells[4]])
    assert line.draft_acceptance_rate == {0.0: 0.6, 0.7: 0.6}
    (k_line,) = k_lines(ARMS, [cells[2]])
    assert (k_line.family, k_line.points[0].k, k_line.points[0].length) == ("eagle3", 5, 4.0)


def test_boxes_are_of_one_temperature_and_load() -> None:
    samples = pd.DataFrame(
        {
            "arm_index": [1, 1, 1, 1],
            "temperature": [0.0, 0.0, 0.7, 0.0],
            "concurrency": pd.array([1, 4, 1, None], dtype="Int64"),
            "request_rate": [None, None, None, 2.5],
            "tpot_ms": [1.0, 2.0, 3.0, 4.0],
        }
    )
    (closed,) = tpot_spreads(ARMS, [CELL], samples)
    assert (closed.count, closed.p50) == (1, 1.0)
    (arriving,) = tpot_spreads(ARMS, [replace(CELL, concurrency=None, request_rate=2.5)], samples)
    assert arriving.p50 == 4.0


def test_published_figures_keep_their_digits() -> None:
    figures = pd.DataFrame(
        {
            "document": ["d", "d"],
            "section": ["s", "s"],
            "technique": ["Baseline", "EAGLE-3"],
            "cost_per_request_usd": [0.00408, 0.0017],
            "requests_per_hour": [3200, 7680],
            "definition": ["a: one; b: two", "a: one"],
        }
    )
    table = shown(figures)
    assert list(table["$ per request"]) == ["0.00408", "0.00170"]
    assert list(table["requests/h"]) == ["3,200", "7,680"]
    assert "document" not in table
    assert sources(figures) == ["d: s"]
    assert definitions(figures) == ["a: one", "b: two"]


def test_text_is_not_markdown() -> None:
    assert escaped("[x](y) <b> **") == "\\[x\\]\\(y\\) \\<b\\> \\*\\*"
