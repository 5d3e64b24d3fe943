"""The command line: exit codes, one sentence on standard error, JSON and nothing else."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from specviz import __version__
from specviz.cli import main
from specviz.commands import single_run
from specviz.config import RunConfig, RunStatus
from specviz.servers.launch import foreground
from specviz.servers.launch.launcher import ServerSpec
from specviz.store import open_store
from specviz.store.history.history import read_history
from specviz.store.runs.runs import read_run

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def specviz(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run"], "Give the prompt with --prompt or --prompt-file"),
        (["run", "--prompt", "hi", "--temperatur", "1"], "No such option"),
        (["run", "--prompt", "hi", "--method", "telepathy"], "telepathy"),
        (["run", "--prompt", "  "], "prompt is empty"),
        (["run", "--prompt", "hi", "--method", "ngram", "--k", "0"], "K = 0"),
        (["run", "--prompt", "hi", "--method", "baseline", "--k", "3"], "leave K out"),
        (["run", "--prompt", "hi", "--temperature", "-1"], "temperature"),
        (["run", "--prompt", "hi", "--top-p", "0"], "top_p"),
        pytest.param(
            ["run", "--prompt", "hi", "--option", "shape=round"], "chain, tree", marks=needs_torch
        ),
        pytest.param(
            ["run", "--prompt", "hi", "--option", "shape=tree"],
            "drafts no trees",
            marks=needs_torch,
        ),
        pytest.param(
            ["run", "--prompt", "hi", "--option", "acceptance=typical"], "medusa", marks=needs_torch
        ),
        (["run", "--prompt", "hi", "--option", "shape"], "NAME=VALUE"),
        pytest.param(
            ["run", "--prompt", "hi", "--model", "/nowhere"], "name a folder", marks=needs_torch
        ),
        (["serve", "--method", "swift"], "vLLM does not have"),
        (["serve", "--k", "0"], "K = 0"),
        (["serve", "--not-ours", "1"], "No such option"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if arguments[0] == "run":
        arguments = [*arguments, "--db", str(tmp_path / "runs.duckdb")]
    assert specviz(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert len(err.strip().splitlines()) == 1


def test_a_server_that_is_not_there_is_exit_code_1_and_the_failed_run_is_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    db = tmp_path / "runs.duckdb"
    address = "http://127.0.0.1:9"
    assert specviz("run", "--prompt", "hi", "--server", address, "--db", str(db), "--json") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "Nothing answers" in err and len(err.strip().splitlines()) == 1
    with open_store(db) as store:
        (row,) = store.read(read_history).rows
        run = store.read(read_run, row.item.item_id)
    assert run.status is RunStatus.FAILED
    assert run.error is not None and "Nothing answers" in run.error


def test_doctor_prints_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert specviz("doctor", "--json") == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {"Python", "vLLM", "Model"} <= {finding["name"] for finding in findings}


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert specviz("--version") == 0
    assert capsys.readouterr().out == f"specviz {__version__}\n"


@pytest.mark.parametrize("command", ["run", "serve"])
def test_tracing_is_one_pair_of_flags(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert specviz(command, "--help") == 0
    reported = capsys.readouterr().out
    assert "--trace" in reported and "--no-trace" in reported and "--no-no-trace" not in reported


@pytest.mark.parametrize(
    ("flags", "traced"), [((), True), (("--trace",), True), (("--no-trace",), False)]
)
def test_tracing_is_on_unless_switched_off(
    flags: tuple[str, ...], traced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def serve(spec: ServerSpec) -> int:
        seen.append(spec.trace)
        return 0

    def run_once(config: RunConfig, *_: object, **__: object) -> int:
        seen.append(config.traced)
        return 0

    monkeypatch.setattr(foreground, "serve", serve)
    monkeypatch.setattr(single_run, "run_once", run_once)
    assert specviz("serve", *flags) == 0
    assert specviz("run", "--prompt", "hi", *flags) == 0
    assert seen == [traced, traced]
