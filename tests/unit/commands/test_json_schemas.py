"""What the commands print with `--json`, held against `docs/schemas`."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from starlette.applications import Starlette
from starlette.testclient import TestClient

from specviz.analysis.cost import prices
from specviz.cli import app, main
from specviz.commands.benchmark import run as bench_run
from specviz.commands.benchmark import stored as stored_benchmark
from specviz.remote import app as remote_app
from specviz.runtime import opened
from specviz.store import Location, Store, StoreBusy, open_store
from specviz.store.owner import Owner
from specviz.web import exchange, query
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET
from tests.support.store.made import made

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"
PROMPT = "What is two and two?"
PLAN = """
warmup = 0
max_tokens = 24
[prompts]
file = "prompts.txt"
format = "text"
[[arms]]
method = "baseline"
[[arms]]
method = "draft_model"
k = 3
[[arms]]
method = "eagle3"
k = 5
options = { shape = "tree" }
"""
TREE = ("--method", "eagle3", "--option", "shape=tree", "--k", "5", "--max-tokens", "24")
KNOWN = ("--gpu-utilization", "0.3", "--output-tokens", "300", "--draft-fits", "--slo", "tpot")


def printed(*arguments: str) -> Any:
    out = io.StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit):
        main([*arguments, "--json"])
    return json.loads(out.getvalue())


def validator(command: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{command}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


@pytest.fixture(scope="module")
def db(folder: Path) -> str:
    return str(made(folder / "runs.duckdb"))


@pytest.fixture(scope="module")
def bench(folder: Path, db: str) -> Iterator[Any]:
    """A benchmark of the demo models: plain decoding, a chain and a tree."""
    (folder / "prompts.txt").write_text(f"{PROMPT}\n", encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_run, "REFRESH_S", 0.05)
        yield printed("bench", str(folder / "plan.toml"), "--db", db)


@pytest.fixture(scope="module")
def run(db: str) -> Any:
    """The benchmark's tree once more, traced."""
    return printed("run", "--prompt", PROMPT, *TREE, "--db", db)


def test_run(run: Any) -> None:
    validator("run").validate(run)


def test_bench(bench: Any) -> None:
    validator("bench").validate(bench)


def test_a_figure_has_one_value_traced_and_benchmarked(bench: Any, run: Any) -> None:
    """Greedy answers of one tree to one prompt: the drafts are the same, so are the figures."""
    (cell,) = [one for one in bench["results"]["cells"] if one["method"] == "eagle3"]
    shared = cell["acceptance"].keys() & run["metrics"].keys()
    assert shared > {"alpha", "draft_acceptance_rate", "mean_acceptance_length", "num_drafts"}
    for name in shared - {"acceptance_rate_per_pos"}:
        assert cell["acceptance"][name] == pytest.approx(run["metrics"][name]), name
    rates = cell["acceptance"]["acceptance_rate_per_pos"]  # of a tree only the accepted depths
    assert run["metrics"]["acceptance_rate_per_pos"][: len(rates)] == pytest.approx(rates)
    assert 0 < cell["acceptance"]["alpha"] < 1
    assert cell["output_tokens"] == run["metrics"]["output_tokens"]


def test_the_parts_of_a_step_sum_to_it(bench: Any, run: Any) -> None:
    cells = bench["results"]["cells"]
    for found in [run["step_time"], *(cell["step_time"] for cell in cells)]:
        parts = found["draft_ms"] + found["verify_ms"] + found["other_ms"]
        assert parts == pytest.approx(found["step_ms"])
        assert found["tpot_ms"] * found["tokens_per_step"] == pytest.approx(found["step_ms"])
    assert run["step_time"]["tpot_ms"] == pytest.approx(run["metrics"]["tpot_ms"])
    plain, *others = cells
    assert plain["plain_tpot_ms"] is None
    for cell in others:
        assert cell["plain_tpot_ms"] == plain["step_time"]["tpot_ms"]
        assert cell["step_time_text"].startswith("Each step drafts for ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("theory", "--alpha", "0.8", "--rates", "0.8,0.6"),
        ("theory", "--parameters", "70e9", "--gpu", "H100 80GB SXM5", "--alpha", "0.8"),
        ("theory", "--parameters", "70e9", "--bandwidth", "2000"),
        ("theory", "--target-probs", "5,3,2", "--draft-probs", "0.2,0.3,0.5"),
        ("cost",),
        ("cost", "--by-concurrency"),
        ("cost", "--rate", "5000", "--baseline-rate", "3000", "--tokens-per-request", "200"),
        ("recommend", *KNOWN, "--no-target-swapped", "--spare-memory-gb", "20"),
        ("recommend", "--acceptance", "0.3", "--temperature", "1.5", "--memory-pressure"),
        ("recommend", "--target", str(DEMO_TARGET), "--draft", str(DEMO_DRAFT)),
        ("doctor",),
        ("models",),
        ("models", "list"),
        ("doctor", "--draft", str(DEMO_DRAFT)),
        ("doctor", "--draft", str(DEMO_DRAFT), "--target", "nowhere"),
        ("command", "--framework", "triton", "--model", "T", "--method", "ngram"),
        ("command", "--framework", "sglang", "--model", "T", "--method", "mtp", "--pp", "2"),
    ],
)
def test_documents_that_need_no_store(arguments: tuple[str, ...]) -> None:
    validator(arguments[0]).validate(printed(*arguments))


def test_documents_of_a_store(
    bench: Any,
    run: Any,
    db: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    benchmark = ("--benchmark", bench["benchmark_id"], "--db", db)
    for command in ("theory", "recommend"):
        validator(command).validate(printed(command, *benchmark))
    priced = printed("cost", *benchmark, "--price", "2")
    validator("cost").validate(priced)
    assert priced["usd_per_hour"] == 2.0 and priced["measured_on"]
    assert priced["price_source"] is None
    with monkeypatch.context() as here, pytest.raises(SystemExit) as ended:
        here.setattr(prices, "list_price", lambda hardware: None)  # as of processors
        main(["cost", *benchmark, "--json"])
    assert ended.value.code == 2
    assert "There is no list price of" in capsys.readouterr().err
    sql = "SELECT * FROM requests JOIN runs USING (run_id)"
    validator("query").validate(printed("query", sql, "--db", db))
    file = str(folder / "all.jsonl")
    validator("export").validate(printed("export", "--all", "-o", file, "--db", db))
    other, plan = str(made(folder / "other.duckdb")), str(folder / "plan.toml")
    taken = printed("import", file, plan, "--db", other)
    validator("import").validate(taken)
    assert [sorted(one) == ["error", "file"] for one in taken["files"]] == [False, True]


def test_commands_that_only_read_work_while_the_app_runs(
    bench: Any, db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = ("recommend", "--benchmark", bench["benchmark_id"][:8], "--db", db)
    alone = printed(*start)
    url = "http://127.0.0.1:1"

    def owned(location: Location) -> Store:
        if str(location) == db:
            raise StoreBusy(Path(db), Owner(1, url))
        return open_store(location)

    with opened(Path(db)):
        app = Starlette(routes=[*exchange.routes, *query.routes])
        monkeypatch.setattr(
            remote_app, "client", lambda *_: TestClient(app, url, client=("127.0.0.1", 1))
        )
        monkeypatch.setattr(stored_benchmark, "open_store", owned)
        assert printed(*start) == alone
        assert f"The app at {url} owns the database and exports it." in capsys.readouterr().err
        with pytest.raises(SystemExit):
            main(["recommend", "--benchmark", "'none", "--db", db])
        assert "No stored benchmark has an id that begins with" in capsys.readouterr().err


def test_every_command_with_json_has_a_schema() -> None:
    with_json = {
        command.name or command.callback.__name__  # type: ignore[union-attr]
        for command in app.registered_commands
        if "as_json" in command.callback.__annotations__  # type: ignore[union-attr]
    }
    groups = {group.name for group in app.registered_groups}
    assert with_json | groups == {
        file.name.removesuffix(".schema.json") for file in SCHEMAS.glob("*.json")
    }


@pytest.mark.parametrize("file", sorted(SCHEMAS.glob("*.json")), ids=lambda file: file.name)
def test_no_key_but_the_ones_named(file: Path) -> None:
    """Every object names its keys and allows no other, or is a mapping of one kind of value."""

    def check(schema: Any, place: str) -> None:
        if isinstance(schema, dict):
            if schema.get("type") in ("object", ["object", "null"]):
                assert "additionalProperties" in schema, place
                assert schema["additionalProperties"] is not True, place
            for key, value in schema.items():
                check(value, f"{place}/{key}")
        elif isinstance(schema, list):
            for index, value in enumerate(schema):
                check(value, f"{place}/{index}")

    check(json.loads(file.read_text(encoding="utf-8")), "")


def test_a_renamed_figure_fails(run: Any, bench: Any) -> None:
    renamed = copy.deepcopy(run)
    renamed["metrics"]["rate"] = renamed["metrics"].pop("draft_acceptance_rate")
    with pytest.raises(ValidationError, match=r"'rate' was unexpected|is a required property"):
        validator("run").validate(renamed)
    cells = copy.deepcopy(bench)
    cells["results"]["cells"][1]["tokens_per_s"] = 1.0
    with pytest.raises(ValidationError, match="'tokens_per_s' was unexpected"):
        validator("bench").validate(cells)
