"""`specviz export` and `specviz import`, on a database and by the app that owns it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from starlette.applications import Starlette
from starlette.testclient import TestClient
from typer.testing import CliRunner

from specviz.commands.export import export
from specviz.commands.import_ import import_
from specviz.errors import StoreError, UsageError
from specviz.remote import app as remote_app
from specviz.remote import exchange as exchange_client
from specviz.remote.token import secret_header
from specviz.runtime import opened
from specviz.store import Store, StoreBusy, open_store
from specviz.store.owner import Owner
from specviz.store.secret import read_secret
from specviz.web import exchange, guard
from specviz.web.guard import Guard
from specviz.web.rules import Rule, Who
from tests.support.store.exchange_samples import HOSTILE, filled
from tests.support.store.made import made

app = typer.Typer()
app.command("export")(export)
app.command("import")(import_)
LOCAL = ("127.0.0.1", 50000)


def run(*arguments: object, code: int = 0) -> Any:
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(answer.exception, UsageError | StoreError):
        raise answer.exception
    assert answer.exit_code == code, answer.output
    return answer


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = made(tmp_path_factory.mktemp("source") / "runs.duckdb")
    with open_store(path) as store:
        filled(store)
    return path


def test_out_and_in(db: Path, tmp_path: Path) -> None:
    name = "all.zip"
    other = made(tmp_path / "other.duckdb")
    reported = json.loads(
        run("export", "--all", "-o", tmp_path / name, "--db", db, "--json").stdout
    )
    assert reported["rows"]["runs"] == 5 and reported["bytes"] == (tmp_path / name).stat().st_size
    answer = run("import", tmp_path / name, "--db", other)
    assert answer.stdout.startswith(f"{name}: imported 5 runs and 1 benchmark and 1 result")
    answer = run("import", tmp_path / name, "--db", other, "--json")
    (outcome,) = json.loads(answer.stdout)["files"]
    assert not outcome["stored"] and outcome["already"]["result"] == ["e"]


@pytest.mark.parametrize("name", ["t.html", "t.csv.zip"])
def test_the_ending_of_the_name_chooses_the_format(db: Path, tmp_path: Path, name: str) -> None:
    run("export", "hostile", "-o", tmp_path / name, "--db", db)
    assert (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "f.zip"], "not both"),
        (["hostile", "--all", "-o", "f.zip"], "not both"),
        (["hostile", "-o", "f.txt"], "Name the format"),
        (["hostile", "-o", "f", "--format", "xml"], "Name the format"),
        (["--all", "-o", "f.html"], "back up as parquet"),
    ],
)
def test_wrong_usage(db: Path, arguments: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        run("export", *arguments, "--db", db)


def test_files_go_one_by_one(db: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad\x1b[2J.json"
    bad.write_text("{")
    run("export", "plain", "-o", tmp_path / "good.zip", "--db", db)
    answer = run("import", bad, tmp_path / "good.zip", "--db", tmp_path / "o.duckdb", code=2)
    assert "good.zip: imported 1 run" in answer.stdout
    assert "not JSON" in answer.stderr and "\x1b" not in answer.stderr
    with pytest.raises(UsageError, match="There is no file"):
        run("import", tmp_path / "none.zip", "--db", tmp_path / "o.duckdb")


@pytest.fixture
def owned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The store of a running app, without a socket between it and the commands."""
    with opened(made(tmp_path / "app.duckdb")) as current:
        app = Guard(Starlette(routes=exchange.routes), frozenset())

        def busy(location: object) -> Store:
            raise StoreBusy(tmp_path / "app.duckdb", Owner(1, "http://127.0.0.1"))

        def client(url: str, token: str | None) -> TestClient:
            return TestClient(app, url, client=LOCAL)

        monkeypatch.setattr(remote_app, "client", client)
        monkeypatch.setattr("specviz.store.open_store", busy)
        yield current.store


def calling(store: Store) -> TestClient:
    """A program that can read the app's secret."""
    app = Guard(Starlette(routes=exchange.routes), frozenset())
    headers = secret_header(read_secret(store.location))
    return TestClient(app, "http://127.0.0.1", client=LOCAL, headers=headers)


def test_a_running_app_does_both(owned: Store, tmp_path: Path, db: Path) -> None:
    filled(owned)
    answer = run("export", "--all", "-o", tmp_path / "f.zip", "--db", tmp_path / "app.duckdb")
    assert "owns the database and does the export" in answer.stderr
    answer = run("import", tmp_path / "f.zip", "--db", tmp_path / "app.duckdb")
    assert "5 runs and 1 benchmark and 1 result already here" in answer.stdout


def test_a_folder_goes_to_a_running_app_too(owned: Store, tmp_path: Path, db: Path) -> None:
    from specviz.store.exchange import Format
    from specviz.store.exchange import export as write

    (tmp_path / "folder").mkdir()
    with open_store(db) as source:
        write(source, ["plain"], Format.PARQUET, tmp_path / "folder")
    answer = run("import", tmp_path / "folder", "--db", tmp_path / "app.duckdb", "--json")
    (outcome,) = json.loads(answer.stdout)["files"]
    assert outcome["stored"] == {"run": ["plain"]}


def test_a_running_app_refuses_with_the_same_sentence(owned: Store, tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text("hello")
    answer = run("import", path, "--k", 3, "--db", tmp_path / "app.duckdb", code=2)
    assert "f.json: This is neither an export" in answer.stderr
    with pytest.raises(UsageError, match="no run, benchmark or imported result nobody"):
        run("export", "nobody", "-o", tmp_path / "g.zip", "--db", tmp_path / "app.duckdb")
    assert not (tmp_path / "g.zip").exists()


@pytest.mark.parametrize(("verb", "route"), [("GET", "/api/export"), ("POST", "/api/import")])
def test_web_pages_and_other_machines_may_not(owned: Store, verb: str, route: str) -> None:
    app = Guard(Starlette(routes=exchange.routes), frozenset({"10.0.0.1"}))
    page = calling(owned).request(verb, route, headers={"Origin": "http://127.0.0.1:8501"})
    away = TestClient(app, "http://10.0.0.1", client=("10.0.0.2", 50000)).request(verb, route)
    assert page.status_code == 403 and away.status_code in (401, 403)


@pytest.mark.parametrize(
    ("route", "says"),
    [
        ("/api/import?method=magic", "method"),
        ("/api/import?k=many", "K cannot be read"),
        ("/api/import?method=eagle3&k=99", "K = 99"),
        ("/api/import", "The file is empty"),
    ],
)
def test_a_request_that_makes_no_sense(owned: Store, route: str, says: str) -> None:
    answer = calling(owned).post(route, content=b"")
    assert answer.status_code == 400 and says in answer.json()["error"]


def test_a_file_that_is_too_large(owned: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Rule("/api/import", ("POST",), Who.PROGRAMS, 10)
    monkeypatch.setattr(guard, "rule_of", lambda path, method: small)
    here = calling(owned)
    assert here.post("/api/import", content=b"x" * 11).status_code == 413
    assert here.post("/api/import", content=iter([b"x" * 6, b"x" * 6])).status_code == 413


def test_an_app_that_is_not_there(tmp_path: Path, db: Path) -> None:
    from specviz.store.exchange import Format, ImportLabels

    with pytest.raises(StoreError, match="does not answer"):
        exchange_client.fetch("http://127.0.0.1:9", None, Format.JSONL, tmp_path / "f.jsonl")
    with pytest.raises(StoreError, match="does not answer"):
        exchange_client.send("http://127.0.0.1:9", db, ImportLabels())
    assert not (tmp_path / "f.jsonl").exists() and HOSTILE
