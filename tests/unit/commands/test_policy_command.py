"""`specviz policy`: a table from a stored sweep, a file, and servers' schedules."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from jsonschema import Draft202012Validator

from specviz.commands.policy import parse_slo, policy
from specviz.errors import UsageError
from specviz.paths import DATA, PROJECT_ROOT
from specviz.policy.file import read_policy
from tests.support.store.shipped_sample import by_load

app = typer.Typer()
app.command()(policy)

SCHEMA = PROJECT_ROOT / "docs" / "schemas" / "policy.schema.json"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("sample") / "runs.duckdb"
    path.write_bytes(gzip.decompress((DATA / "sample.duckdb.gz").read_bytes()))
    return str(path)


def said(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    app(args=[*options], standalone_mode=False)
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    found = json.loads(said(capsys, *options, "--json"))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(found)
    return found


def test_a_sweep_becomes_a_file_and_the_file_a_schedule(
    capsys: pytest.CaptureFixture[str], db: str, tmp_path: Path
) -> None:
    out = tmp_path / "policy.toml"
    asked = ["--benchmark", by_load()[:8], "--method", "eagle3", "--db", db]
    text = said(capsys, *asked, "--hold-steps", "8", "-o", str(out))
    assert text.startswith("eagle3: K by output throughput\n")
    assert "measured at concurrency 4 on 24 prompts in 1 block, no interval" in text
    written = read_policy(out)
    assert (written.requests_running, written.hold_steps) == ((1, 2, 4), 8)
    assert [row.temperature for row in written.rows] == [0.0, 0.7, None]
    with pytest.raises(UsageError, match="exists: name another"):
        said(capsys, *asked, "-o", str(out))
    said_of_file = document(capsys, "--policy", str(out), "--vllm")
    assert said_of_file["measured"] is None
    assert json.loads(said_of_file["schedule"]["option"]) == {
        "num_speculative_tokens": 5,
        "num_speculative_tokens_per_batch_size": [[1, 4, 5]],
    }


def test_json_says_what_each_k_rests_on(capsys: pytest.CaptureFixture[str], db: str) -> None:
    found = document(capsys, "--benchmark", by_load()[:8], "--slo", "tpot_ms=8", "--db", db)
    assert found["benchmark_id"].startswith(by_load()[:8]) and found["schedule"] is None
    measured = found["measured"]
    assert measured["objective"] == "request_goodput" and measured["slo"]["tpot_ms"] == 8
    assert len(measured["cells"]) == 9
    alone = measured["cells"][0]
    assert [one["k"] for one in alone["candidates"]] == [0, 5]
    assert alone["candidates"][1]["low"] < alone["candidates"][1]["value"]
    assert tomllib.loads(found["policy_toml"])["rows"][0]["temperature"] == 0.0


def test_mixed_temperatures_have_one_k(capsys: pytest.CaptureFixture[str], db: str) -> None:
    found = document(capsys, "--benchmark", by_load()[:8], "--mixed", "--db", db)
    assert len(found["measured"]["cells"]) == 6
    first, other = tomllib.loads(found["policy_toml"])["rows"]
    assert first["k"] == other["k"] and "temperature" not in other


def test_a_schedule_can_be_piped(capsys: pytest.CaptureFixture[str], db: str) -> None:
    asked = ["--benchmark", by_load()[:8], "--db", db, "--sglang", "--temperature", "0.7"]
    app(args=asked, standalone_mode=False)
    captured = capsys.readouterr()
    assert captured.out.startswith("--speculative-adaptive ")
    assert "K of requests at temperature 0.7" in captured.err
    assert "it cannot say temperature, top-p" in captured.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "Name a measured sweep with --benchmark, or a file"),
        (["--benchmark", "a", "--policy", "b"], "Name a measured sweep"),
        (["--policy", "nowhere.toml"], "Cannot read the policy nowhere"),
        (["--policy", "p", "--slo", "tpot_ms=3"], "choose from a sweep"),
        (["--policy", "p", "--mixed"], "choose from a sweep"),
        (["--policy", "p", "--temperature", "1"], "are of a schedule: add --vllm, "),
        (["--policy", "p", "--vllm", "--litellm"], "Choose one of --vllm, --sglang"),
    ],
)
def test_wrong_options_are_named(options: list[str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        app(args=options, standalone_mode=False)


@pytest.mark.parametrize("text", ["tpot=20", "tpot_ms", "tpot_ms=-1", "tpot_ms=fast", "x_ms=nan"])
def test_a_limit_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write ttft_ms, tpot_ms, e2el_ms and the ms"):
        parse_slo([text])


def test_a_benchmark_that_is_not_there(capsys: pytest.CaptureFixture[str], db: str) -> None:
    with pytest.raises(UsageError, match="No stored benchmark has an id that begins with 'f0f0'"):
        said(capsys, "--benchmark", "f0f0", "--db", db)
