"""Phases of a load on the page, in a terminal and in the JSON."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from specviz.analysis.benchmark.phases.figures import Compared, Estimate, Gain, PhaseFigures
from specviz.analysis.benchmark.results import ArmState, Results
from specviz.bench.load.traffic import Traffic, ramp
from specviz.bench.plan.plan import Plan, PlanArm
from specviz.commands.benchmark.phases import phase_tables
from specviz.config import EngineKind, RunConfig
from specviz.methods import Method
from specviz.paths import PROJECT_ROOT
from specviz.report.phases_part import phases_part
from specviz.views.benchmark.figures.phases import PhaseLine, by_phase
from specviz.views.benchmark.phases import in_full, phase_lines, phase_table
from specviz.views.shared.benchmark.plan_text import plan_summary

OFF = ArmState("off", 0, "vllm", "baseline", None, "m", None, None, None, None, 0, 0, None, None)
ON = replace(OFF, arm="on · K 3", arm_index=1, method="ngram", k=3)


def figures(arm: ArmState, phase: int | None, tpot_ms: float, *compared: Compared) -> PhaseFigures:
    return PhaseFigures(
        arm=arm.arm, arm_index=arm.arm_index, traffic="ramp", phase=phase,
        load=None if phase is None else f"concurrency {phase + 1}", temperature=None,
        passes=3, requests=30, failed=0, seconds=12.0,
        request_goodput=Estimate(2.5, 2.25, 2.75), output_throughput=None, ttft_ms=None,
        tpot_ms=Estimate(tpot_ms, None, None), draft_acceptance_rate=None,
        num_draft_tokens=0, compared=compared,
    )  # fmt: skip


BETTER = Compared(0, 3, Gain(1.25, 1.1, 1.4), Gain(0.9, 0.8, 1.1), None)
FOUND = [
    figures(OFF, None, 10.0), figures(ON, None, 11.0, BETTER),
    figures(OFF, 0, 9.0), figures(ON, 0, 8.0, BETTER),
    figures(OFF, 1, 12.0), figures(ON, 1, 14.0, BETTER),
]  # fmt: skip


def test_a_line_per_phase_and_arm_the_whole_first() -> None:
    table = phase_table(FOUND[::-1], OFF)
    assert (
        list(table["phase"])
        == ["all phases"] * 2 + ["1 · concurrency 1"] * 2 + ["2 · concurrency 2"] * 2
    )
    on = table[table["arm"] == "on · K 3"].iloc[0]
    assert on["goodput 1/s"] == "2.50 (2.25 to 2.75)"
    assert on["goodput gain"] == "1.25× (1.10 to 1.40)"
    assert BETTER.request_goodput.verdict == "faster"
    assert on["TPOT gain"] == "0.90× (0.80 to 1.10)"
    assert table["goodput gain"].notna().sum() == 3  # nothing is compared with itself
    assert phase_table(FOUND, None)["goodput gain"].isna().all()
    assert in_full(FOUND)["request_goodput_high"].eq(2.75).all()


def test_an_interval_of_two_passes_that_says_nothing_is_not_drawn() -> None:
    wide = Estimate(47.1, 0.001, 186_318_023.0)
    assert wide.text == "47.1 (too few passes)"
    assert Estimate(0.5, 0.0, 3.0).ends is None and Estimate(0.5, 0.1, 9.0).ends == (0.1, 9.0)
    assert Gain(0.94, 0.0, 885488982.49).text == "0.94× (too few passes)"
    drawn = by_phase([PhaseLine("off", "#000000", True, {"1": wide})], "TPOT, ms")
    assert drawn.data[0].error_y.array == drawn.data[0].error_y.arrayminus == (0.0,)
    assert drawn.layout.yaxis.range[1] < 60


def test_lines_go_over_the_phases_and_leave_out_the_whole() -> None:
    lines = phase_lines([OFF, ON], FOUND, "tpot_ms")
    assert [(line.arm, line.is_baseline) for line in lines] == [("off", True), ("on · K 3", False)]
    assert [point.value for point in lines[1].points.values()] == [8.0, 14.0]
    assert not phase_lines([OFF, ON], FOUND, "ttft_ms")
    drawn = by_phase(lines, "TPOT, ms")
    assert list(drawn.layout.xaxis.ticktext) == ["1 · concurrency 1", "2 · concurrency 2"]
    assert list(drawn.data[1].y) == [8.0, 14.0]


def test_the_terminal_has_gains_over_plain_decoding() -> None:
    document = Results((OFF, ON), (), (), (), (), phases=tuple(FOUND)).to_dict()
    out = io.StringIO()
    console = Console(file=out, width=200)
    for table in phase_tables(document):
        console.print(table)
    text = out.getvalue()
    assert "ramp, by phase; intervals over 3 passes" in text
    assert text.count("1.25× (1.10 to 1.40)") == 3
    assert "2 · concurrency 2" in text


def test_the_html_file_has_them_with_intervals_and_nothing_of_steady_loads() -> None:
    document = Results((OFF, ON), (), (), (), (), phases=tuple(FOUND)).to_dict()
    html = phases_part(document)
    assert "<h3>ramp, by phase, 3 passes</h3>" in html
    assert html.count("<td>1.25× (1.10 to 1.40)</td>") == 3
    assert html.count("<td>2.50 (2.25 to 2.75)</td>") == 6
    assert phases_part(Results((OFF, ON), (), (), (), ()).to_dict()) == ""


def test_the_json_is_as_its_schema_says() -> None:
    file = PROJECT_ROOT / "docs" / "schemas" / "bench.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    phase = {"$ref": "#/$defs/phase", "$defs": schema["$defs"]}
    for one in FOUND:
        Draft202012Validator(phase).validate(json.loads(json.dumps(asdict(one))))


@pytest.mark.parametrize("passes", [1, 5])
def test_the_summary_counts_the_requests_of_passes(passes: int) -> None:
    arms = tuple(
        PlanArm(RunConfig(EngineKind.EMBEDDED, method, traced=False))
        for method in (Method.BASELINE, Method.NGRAM)
    )
    traffic = Traffic("up and down", ramp([1, 4, 1], 2))
    text = plan_summary(
        Plan("p", arms, loads=(), traffic=(traffic,), repetitions=passes), 60, 60, 1
    )
    word = "pass" if passes == 1 else "passes"
    assert f"2 arms × {passes} {word} of up and down = {2 * passes * 20} requests" in text
