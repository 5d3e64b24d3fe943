"""`specviz recommend`: the same answers as the page, as text and as one JSON document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from specviz.commands.recommend import recommend
from specviz.errors import UsageError
from specviz.store import open_store
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET

app = typer.Typer()
app.command()(recommend)

EAGLE = [
    *("--gpu-utilization", "0.3", "--output-tokens", "300", "--draft-fits"),
    *("--no-target-swapped", "--spare-memory-gb", "20"),
]


def said(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    app(args=[*options], standalone_mode=False)
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    return json.loads(said(capsys, *options, "--json"))


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, *EAGLE)
    assert set(found) == {"situation", "recommendation", "draft", "command", "router_toml"}
    reported = found["recommendation"]
    assert (reported["speculate"], reported["technique"], reported["k"]["k"]) == (
        "on",
        "EAGLE-3",
        5,
    )
    assert found["situation"]["answers"]["spare_memory_gb"] == 20
    assert "YOUR-EAGLE-3-HEAD" in found["command"]
    assert "off_from = 32" in found["router_toml"]


def test_text_says_what_why_and_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *EAGLE, "--slo", "cost")
    assert text.startswith("On: EAGLE-3, K 5\n")
    assert "entered by you" in text
    assert "Temperature above 1.0?" in text
    assert "vllm serve" in text


def test_off_has_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, *EAGLE, "--temperature", "1.5")
    assert found["recommendation"]["speculate"] == "off"
    assert found["command"] is None and found["router_toml"] is None


def test_the_pair_answers_whether_it_fits(capsys: pytest.CaptureFixture[str]) -> None:
    pair = ["--target", str(DEMO_TARGET), "--draft", str(DEMO_DRAFT), "--spare-memory-gb", "1"]
    found = document(capsys, *pair)
    assert found["situation"]["answers"]["draft_fits"] is True
    assert [check["verdict"] for check in found["draft"]][:2] == ["pass", "pass"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--gpu-utilization", "80"], "gpu_utilization is a number"),
        (["--text", "poems"], "text is one of"),
        (["--target", "x"], "both --target and --draft"),
    ],
)
def test_wrong_options_are_named(options: list[str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        app(args=options, standalone_mode=False)


def test_a_benchmark_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.duckdb"
    options = ["--benchmark", "abc", "--db", str(path)]
    with pytest.raises(UsageError, match="There is no database"):
        app(args=options, standalone_mode=False)
    open_store(path).close()
    with pytest.raises(UsageError, match="No stored benchmark has an id that begins with 'abc'"):
        app(args=options, standalone_mode=False)


def test_a_speed_up_of_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"speedup is .* from 0\.01 to 1000, not 0"):
        said(capsys, *EAGLE, "--speedup", "0")
