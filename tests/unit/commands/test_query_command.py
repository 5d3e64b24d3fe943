"""`specviz query`: tables for people, one JSON document for programs, and a running app's store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
import typer
from rich.console import Console
from starlette.applications import Starlette
from starlette.testclient import TestClient
from typer.testing import CliRunner

from specviz.commands.query import query as command
from specviz.config import Prompt, RunStatus
from specviz.errors import StoreError, UsageError
from specviz.remote import app as remote_app
from specviz.remote import query as query_client
from specviz.remote.token import SECRET_HEADER
from specviz.runtime import opened
from specviz.store import Store, StoreBusy, open_store
from specviz.store import store as store_module
from specviz.store.owner import Owner
from specviz.store.runs.runs import read_requests
from specviz.web import query
from specviz.web.guard import Guard
from tests.support.store.made import made
from tests.support.store.samples import new_run, record, request_events

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m<script>[red]x[/red]\u202egpj.\u200b\r\n\ttail\x00"

app = typer.Typer()
app.command()(command)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = made(tmp_path_factory.mktemp("query") / "runs.duckdb")
    with open_store(path) as store:
        for index in range(3):
            record(store, new_run(run_id=f"run{index}"), request_events(2), prompt=HOSTILE)
    return path


def asked(*arguments: object) -> tuple[str, str]:
    """Standard output and standard error of a command that worked."""
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if answer.exception is not None:
        raise answer.exception
    return answer.stdout, answer.stderr


def test_a_table_for_people(db: Path) -> None:
    out, notes = asked("SELECT run_id, k, NULL AS nothing, [1, 2] AS list FROM runs ORDER BY 1",
                       "--db", db)  # fmt: skip
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["run_id", "k", "nothing", "list"]
    assert lines[1] == ["run0", "3", "NULL", "[1,", "2]"]
    assert len(lines) == 4
    assert notes.startswith("3 rows, ")


def test_one_json_document(db: Path) -> None:
    began = datetime.now(UTC)
    out, notes = asked("SELECT run_id, k FROM runs ORDER BY 1", "--db", db, "--limit", 2, "--json")
    found = json.loads(out)
    assert found.pop("elapsed_ms") > 0
    assert began < datetime.fromisoformat(found.pop("data_as_of")) < datetime.now(UTC)
    assert found == {
        "columns": [{"name": "run_id", "type": "VARCHAR"}, {"name": "k", "type": "SMALLINT"}],
        "rows": [["run0", 3], ["run1", 3]],
        "truncated": True,
    }
    assert notes == ""


def test_more_rows_than_the_limit_are_told(db: Path) -> None:
    _, notes = asked("FROM runs", "--db", db, "--limit", 1)
    assert notes.startswith("1 row, ") and "there are more: --limit 10" in notes


@pytest.mark.parametrize("terminal", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_nothing_of_a_model_reaches_the_terminal_as_a_command(
    db: Path, terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_terminal(console: Console) -> bool:
        return terminal

    monkeypatch.setattr(Console, "is_terminal", property(is_terminal))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    name = HOSTILE.replace("\x00", "").replace('"', "")
    for column in ("prompt", "{'a': [prompt]} AS within"):
        out, notes = asked(f'SELECT {column}, 2 AS "{name}" FROM requests LIMIT 1', "--db", db)
        for text in (out.replace("\n", ""), notes.replace("\n", "")):
            assert text.isprintable(), [hex(ord(one)) for one in text if not one.isprintable()]
        assert "script" in out


def test_json_sends_no_invisible_marks_either(db: Path) -> None:
    out, _ = asked("SELECT prompt FROM requests LIMIT 1", "--db", db, "--json")
    assert json.loads(out)["rows"] == [[HOSTILE]]
    assert out.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("sql", "error", "says"),
    [
        ("DELETE FROM runs", UsageError, "DELETE is refused"),
        ("SELECT 'x'::INT", StoreError, "Could not convert"),
    ],
)
def test_the_guard_is_the_same(db: Path, sql: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        asked(sql, "--db", db)


def test_an_sql_argument_with_half_a_character(db: Path) -> None:
    with pytest.raises(UsageError, match="half a character"):
        asked("SELECT '\udc80'", "--db", db)


def test_no_database_is_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no database"):
        asked("SELECT 1", "--db", tmp_path / "none.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_the_usual_database(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_STORE", str(db))
    assert asked("SELECT count(*) AS n FROM runs")[0].split() == ["n", "3"]


def test_a_database_that_another_program_has(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(db), pytest.raises(StoreBusy):
        asked("SELECT 1", "--db", db)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with opened(made(tmp_path / "runs.duckdb")) as current:
        record(current.store, new_run(run_id="run0"), request_events(1), prompt=HOSTILE)
        yield client_of_app({SECRET_HEADER: current.secret})


def client_of_app(headers: dict[str, str]) -> TestClient:
    app = Guard(Starlette(routes=query.routes), frozenset())
    return TestClient(app, "http://127.0.0.1", client=("127.0.0.1", 1), headers=headers)


@pytest.fixture
def app_of(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database that a running app owns, without a socket between."""

    def busy(path: Path) -> Store:
        raise StoreBusy(path, Owner(1, "http://app/"))

    monkeypatch.setattr(remote_app, "client", lambda url, token: client_of_app({}))
    monkeypatch.setattr(store_module, "open_store", busy)
    monkeypatch.setattr("specviz.store.open_store", busy)
    return tmp_path / "runs.duckdb"


def test_a_running_app_answers(app_of: Path) -> None:
    out, notes = asked("SELECT run_id, now() < now() FROM runs", "--db", app_of)
    assert out.splitlines()[1].split() == ["run0", "false"]
    assert (
        notes.splitlines()[0] == "The app at http://app/ owns the database and answers the query."
    )
    out, _ = asked("SELECT prompt FROM requests", "--db", app_of, "--json", "--limit", 7)
    assert json.loads(out)["rows"] == [[HOSTILE]]


def test_a_running_app_refuses_as_well(app_of: Path) -> None:
    with pytest.raises(UsageError, match="DELETE is refused"):
        asked("DELETE FROM runs", "--db", app_of)
    with pytest.raises(StoreError, match="Could not convert"):
        asked("SELECT 'x'::INT", "--db", app_of)


def test_a_body_that_is_no_query_is_refused(client: TestClient) -> None:
    for body, says in (
        (b"", "The body must be"),
        (b"[]", "The body must be"),
        (b"{}", "The body must be"),
        (b"\xff", "The body must be"),
        (b'{"sql": "SELECT 1", "limit": null}', "The body must be"),
        (b'{"sql": "SELECT 1", "limit": 0}', "1 to 100,000 rows"),
        (b'{"sql": 5}', "not SQL"),
        (b'{"sql": "SELECT \'\\ud800\'"}', "half a character"),
        (b'{"sql": "DROP TABLE runs"}', "DROP is refused"),
    ):
        answer = client.post("/api/query", content=body)
        assert answer.status_code == 400
        assert says in answer.json()["error"], body


def test_other_web_pages_may_not_ask(client: TestClient) -> None:
    origin = {"Origin": "http://127.0.0.1:8501"}
    answer = client.post("/api/query", json={"sql": "SELECT 1"}, headers=origin)
    assert answer.status_code == 403
    answer = client.post("/api/query", json={"sql": "x" * 300_000})
    assert answer.status_code == 413


def test_an_app_that_is_not_there() -> None:
    with pytest.raises(StoreError, match=r"http://127\.0\.0\.1:9 does not answer"):
        query_client.ask("http://127.0.0.1:9/", "SELECT 1", 1)


@pytest.mark.parametrize("status", [200, 302, 400, 502])
def test_another_program_at_the_address(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    def gateway(url: str, token: str | None) -> httpx2.Client:
        bad = httpx2.Response(status, text="<h1>Bad gateway</h1>")
        return httpx2.Client(base_url=url, transport=httpx2.MockTransport(lambda request: bad))

    monkeypatch.setattr(remote_app, "client", gateway)
    with pytest.raises(StoreError, match=f"http://app failed: HTTP {status} <h1>Bad"):
        query_client.ask("http://app", "SELECT 1", 1)


def test_a_prompt_is_stored_as_it_was(db: Path) -> None:
    """The hostile text is really in there."""
    with open_store(db) as store:
        (found,) = store.read(read_requests, "run0")
        assert found.status is RunStatus.FINISHED
        assert Prompt(HOSTILE).text == HOSTILE
