"""`specviz bench` on the command line: plans by name, progress in lines, results as tables."""

from __future__ import annotations

import io
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from specviz.bench.progress import ArmProgress, BenchPhase, Progress
from specviz.cli import main
from specviz.commands.benchmark import run as bench_run
from specviz.commands.benchmark.run import duration, plan_path, shipped_plans
from specviz.commands.benchmark.tables import print_results, speedup_text
from specviz.errors import UsageError
from specviz.paths import PLANS


def test_a_plan_that_is_nowhere_is_wrong_usage_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", "nowhere.toml"])
    out, said = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert "There is no plan nowhere.toml" in said
    assert all(name in said for name in shipped_plans())
    assert len(said.strip().splitlines()) == 1


def test_a_plan_that_is_wrong_is_refused_before_a_database_is_made(tmp_path: Path) -> None:
    plan, db = tmp_path / "plan.toml", tmp_path / "runs.duckdb"
    plan.write_text("wramup = 3")
    with pytest.raises(UsageError, match="wramup"):
        bench_run.run_bench(plan, db, None, as_json=True)
    assert not db.exists()


def test_a_plan_is_a_file_or_a_shipped_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert plan_path(Path("two-minutes")) == PLANS / "two-minutes.toml"
    assert plan_path(Path("two-minutes.toml")) == PLANS / "two-minutes.toml"
    Path("two-minutes.toml").write_text("")
    assert plan_path(Path("two-minutes.toml")) == Path("two-minutes.toml")
    for nothing in ("nowhere", ".toml", "two_minutes"):
        with pytest.raises(UsageError, match="two-minutes"):
            plan_path(Path(nothing))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (200.0, "3 min 20 s"),
        (3599.7, "1 h 0 min"),
        (7500.0, "2 h 5 min"),
    ],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text


class Scripted:
    """A board whose benchmark goes through these steps, one per look."""

    def __init__(self, *steps: Progress | None) -> None:
        self._steps = list(steps)
        self._shown: Progress | None = None

    def wait(self, benchmark_id: str, timeout_s: float) -> bool:
        if self._steps:
            self._shown = self._steps.pop(0)
            return False
        return True

    def progress(self, benchmark_id: str) -> Progress | None:
        return self._shown


def progress(done: int, left_s: float | None = None, doing: str | None = None) -> Progress:
    arms = (
        ArmProgress("baseline", "measuring", None, done, 10, 0, 2.5, 400.0, None),
        ArmProgress("[b]ngram[/b]", "failed", "out of memory", 0, 10, 3, None, None, None),
    )
    phase = BenchPhase.RUNNING if done else BenchPhase.STARTING
    return Progress("b", "[red]Test", phase, doing, done, 20, 1.0, left_s, arms)


def followed(*steps: Progress | None, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=100, highlight=False)
    bench_run._follow(Scripted(*steps), "b", console)
    return out.getvalue()


def test_progress_without_a_terminal_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = (progress(0), progress(5, 200.0, "concurrency 4"), progress(5, 200.0, "concurrency 4"))
    assert followed(*said) == "0 of 20 requests · starting\n"  # the others came too soon
    monkeypatch.setattr(bench_run, "PLAIN_EVERY_S", 0.0)
    assert followed(None, *said).splitlines() == [
        *("0 of 20 requests · starting", "5 of 20 requests · 3 min 20 s left · concurrency 4")
    ]


def test_progress_in_a_terminal_shows_every_arm_and_believes_no_markup(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = followed(progress(5, 30.0, "run 1 of 2"), terminal=True)
    for text in ("[red]Test", "[b]ngram[/b]", "failed: out of memory", "5/10", "30 s left"):
        assert text in shown


COUNTED = {"prompts": 30, "excluded": 0, "basis": "time"}
"""What else a document says of a speed-up."""


def cell(**changes: Any) -> dict[str, Any]:
    quantiles = {"count": 5, "mean": 2.0, "p50": 1.5, "p90": 2.5, "p95": 3.5, "p99": 4.5}
    fields = {
        "arm": "ngram · K 3",
        "temperature": 0.0,
        "concurrency": 4,
        "request_rate": None,
        "ttft_ms": quantiles,
        "tpot_ms": quantiles,
        "e2el_ms": quantiles,
        "output_throughput": 321.0,
        "acceptance": {"draft_acceptance_rate": 0.625, "mean_acceptance_length": 2.875},
        "speedup": {"ratio": 1.868, "low": 1.655, "high": 2.054, **COUNTED},
        "notes": ["Few prompts."],
        "disturbance": None,
        "step_time_text": None,
    }
    return {**fields, **changes}


NOTHING = dict.fromkeys(
    ("ttft_ms", "tpot_ms", "e2el_ms", "output_throughput", "acceptance", "speedup")
)


def check(server_accepted: int) -> dict[str, Any]:
    return {
        "arm": "ngram · K 3",
        "arm_index": 1,
        "num_drafts": 1000,
        "num_draft_tokens": 3000,
        "num_accepted_tokens": 1875,
        "server_drafts": 1000,
        "server_draft_tokens": 3000,
        "server_accepted_tokens": server_accepted,
        "rounds_without": 0,
    }


def printed(capsys: pytest.CaptureFixture[str], **results: Any) -> str:
    print_results(
        {
            "benchmark_id": "b1",
            "name": "[bold]Test",
            "hardware": None,
            "requests": {"planned": 20, "finished": 18},
            "results": {"arms": [], "cells": [], "phases": [], "checks": [], "notes": []} | results,
        }
    )
    return capsys.readouterr().out


def test_results_are_a_table_per_load_and_temperature(capsys) -> None:
    cells = [
        cell(),
        cell(arm="baseline", **NOTHING),
        cell(concurrency=None, request_rate=2.5, temperature=0.7),
    ]
    out = printed(capsys, cells=cells, notes=["Temperatures differ."])
    lines = out.splitlines()
    assert lines[0].startswith("[bold]Test · 18 of 20 requests")
    assert "concurrency 4, temperature 0" in out and "2.5 requests/s, temperature 0.7" in out
    (drafted, _) = [line for line in lines if line.startswith("ngram")]
    assert drafted.split()[4:] == [
        *("1.50", "1.50", "3.50", "1.50", "321", "0.625", "2.88", "1.87×", "(1.66", "to", "2.05)"),
        "faster",
    ]
    (plain,) = [line for line in lines if line.startswith("baseline")]
    assert plain.split() == ["baseline", *["–"] * 9]
    assert out.count("Few prompts.") == 1 and "Temperatures differ." in out
    assert lines[-1] == "benchmark b1"


def test_checks_say_whether_the_server_counted_the_same(capsys) -> None:
    same, other = printed(capsys, checks=[check(1875)]), printed(capsys, checks=[check(2000)])
    assert "1,875 of 3,000 draft tokens accepted, as /metrics of the server counted" in same
    assert "but /metrics counted 2,000 of 3,000" in other


def test_results_of_nothing_are_printed(capsys) -> None:
    assert "18 of 20" in printed(capsys)


def test_a_speed_up_without_an_interval_or_at_all() -> None:
    assert speedup_text({"ratio": 1.868, "low": 1.655, "high": 2.054, **COUNTED}) in (
        "1.87× (1.66 to 2.05)",
        "1.87× (1.65 to 2.05)",  # 1.655 lies between in binary
    )
    assert speedup_text({"ratio": 0.5, "low": None, "high": None, **COUNTED}) == "0.50×"
    assert speedup_text(None) == "–"


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_a_whole_benchmark_through_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command's own way through runtime and store; the demo models answer two prompts."""
    plan, db = tmp_path / "plan.toml", tmp_path / "runs.duckdb"
    (tmp_path / "prompts.txt").write_text("What is two and two?\nName a colour.\nTODO\n")
    plan.write_text(
        'warmup = 0\nmax_tokens = 4\n[prompts]\nfile = "prompts.txt"\nformat = "text"\n'
        '[[arms]]\nmethod = "baseline"\n[[arms]]\nmethod = "ngram"\nk = 3\n'
    )
    monkeypatch.setattr(bench_run, "REFRESH_S", 0.05)
    assert bench_run.run_bench(plan, db, None, as_json=True) == 0
    said = capsys.readouterr()
    assert "1 of 3 entries are skipped: a placeholder is not a prompt (line 3)." in said.err
    found = json.loads(said.out)
    assert found["requests"] == {"planned": 4, "finished": 4}
    assert [arm["error"] for arm in found["results"]["arms"]] == [None, None]
    with pytest.raises(UsageError, match="nothing is missing"):
        bench_run.run_bench(None, db, found["benchmark_id"], as_json=True)
    with pytest.raises(UsageError, match="Name a plan"):
        bench_run.run_bench(None, db, None, as_json=False)
