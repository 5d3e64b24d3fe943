"""`specviz servers`: the fleet in a file, and in the app that owns it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.testclient import TestClient
from typer.testing import CliRunner

from specviz.cli import app as program
from specviz.errors import UsageError
from specviz.policy.file import policy_toml
from specviz.policy.policy import Basis, Policy, Row
from specviz.remote import app as remote_app
from specviz.runtime import opened
from specviz.store import StoreBusy
from specviz.store import store as store_module
from specviz.store.owner import Owner
from specviz.web import servers
from tests.support.servers.scripted_server import Script, serving
from tests.support.store.made import made

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "servers.schema.json"
APP_URL = "http://127.0.0.1:1"
GPU = ("add", "gpu-1", "gpu-1:8000/v1/", "--label", "GPU box", "--key-env", "GPU1_API_KEY")


WHOSE = ("the file", "the app that owns it")
in_the_file_first = pytest.mark.parametrize(
    "db", [WHOSE[0], pytest.param(WHOSE[1], marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture(params=WHOSE)
def db(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    path = made(tmp_path / "runs.duckdb")
    if request.param == "the file":
        yield path
        return
    with opened(path):
        app = Starlette(routes=servers.routes)
        monkeypatch.setattr(
            remote_app, "client", lambda *_: TestClient(app, APP_URL, client=("127.0.0.1", 1))
        )
        monkeypatch.setattr(store_module, "_claim", lambda path: _busy(path))
        yield path


def _busy(path: Path) -> None:
    raise StoreBusy(path, Owner(1, APP_URL))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    handshake = {"tracing": True, "method": "ngram", "num_speculative_tokens": 4}
    with serving(Script(handshake=handshake, running=2)) as address:
        yield address


def answer(db: Path, *arguments: str, exit_code: int = 0) -> str:
    done = CliRunner().invoke(program, ["servers", *arguments, "--db", str(db)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == exit_code, done.output
    return done.stdout


def document(db: Path, *arguments: str, exit_code: int = 0) -> list[dict[str, Any]]:
    found = json.loads(answer(db, *arguments, "--json", exit_code=exit_code))
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(found)
    return list(found["servers"])


def test_a_server_is_added_listed_checked_and_removed(db: Path, url: str) -> None:
    assert document(db, "list") == []
    (gpu,) = document(db, *GPU)
    assert gpu["url"] == "http://gpu-1:8000" and gpu["labels"] == ["GPU box"]
    assert gpu["key_env"] == "GPU1_API_KEY" and gpu["health"] is None
    document(db, "add", "here", url, "--baseline-of", "gpu-1")
    assert [server["name"] for server in document(db, "list")] == ["gpu-1", "here"]

    (here,) = document(db, "check", "here")
    health = here["health"]
    assert health["reachable"] and health["software"] == "vLLM 0.32.0" and health["running"] == 2
    assert (health["method"], health["k"], health["fidelity"]) == ("ngram", 4, "traced")
    assert "up" in answer(db, "check", "here").split()

    document(db, "remove", "gpu-1")
    (left,) = document(db, "list")
    assert left["name"] == "here" and left["baseline_of"] is None


@in_the_file_first
def test_one_that_is_down_is_exit_code_1_and_says_since_when(db: Path, url: str) -> None:
    document(db, "add", "gone", "http://127.0.0.1:9")
    document(db, "add", "here", url)
    gone, here = document(db, "check", exit_code=1)
    assert here["health"]["reachable"] and not gone["health"]["reachable"]
    assert gone["health"]["down_since"] and "Nothing answers" in gone["health"]["problem"]
    assert "down since 2" in answer(db, "check", exit_code=1)


@in_the_file_first
def test_what_is_wrong_is_one_sentence(db: Path) -> None:
    answer(db, *GPU)
    for arguments, said in (
        (GPU, "There is a server gpu-1 already"),
        (("remove", "gone"), "There is no server gone: there are gpu-1."),
        (("check", "gone"), "There is no server gone"),
        (("add", "x", "ftp://x"), "is not a server URL"),
        (("add", "x", "http://me:word@x"), "Leave user and password out"),
        (("add", "x", "x", "--kind", "embedded"), "is no server"),
        (("add", "x", "x", "--kind", "apache"), "kind cannot be 'apache': use one of"),
        (("add", "x", "x", "--key-env", "sk-1"), "a key itself is never stored"),
    ):
        with pytest.raises(UsageError, match=said):
            answer(db, *arguments)


@in_the_file_first
def test_a_proxy_is_configured(db: Path, url: str, tmp_path: Path) -> None:
    rule = Policy(4, (4,), (Row((4,), (Basis.EDITED,), 0.5), Row((0,), (Basis.EDITED,))))
    policy = tmp_path / "policy.toml"
    policy.write_text(policy_toml(rule))
    with serving(Script(speculates=False)) as plain:
        document(db, "add", "fast", url)
        document(db, "add", "plain", plain, "--baseline-of", "fast")
        wanted = ("route", "--policy", str(policy), "--litellm", str(tmp_path / "proxy"), "--json")
        found = json.loads(answer(db, *wanted))
        command = answer(db, "route", "--vllm-router")
        asked = ["policy", "--policy", str(policy), "--litellm", "--db", str(db), "--json"]
        printed = json.loads(CliRunner().invoke(program, asked).stdout)["litellm"]
    assert printed["speculating"] == found["speculating"]
    written = {Path(path).name: Path(path).read_text() for path in found["files"]}
    assert printed["files"] == written
    assert (found["model"], found["plain"], found["speculating"]) == ("demo", ["plain"], ["fast"])
    assert found["refused"] == ["logit_bias", "min_p"]
    assert [Path(path).is_file() for path in found["files"]] == [True] * 3
    assert command.startswith(f"vllm-router --worker-urls {plain} {url} ")
    with pytest.raises(UsageError, match="plain does not answer, so its model is not known"):
        answer(db, "route", "--vllm-router")


@pytest.mark.parametrize(
    "body", [[], {"name": 1, "url": "x"}, {"name": "x", "url": "x", "key": "y"}, {"labels": "x"}]
)
def test_a_body_that_is_no_server_is_refused(tmp_path: Path, body: object) -> None:
    with (
        opened(made(tmp_path / "runs.duckdb")),
        TestClient(Starlette(routes=servers.routes)) as client,
    ):
        refused = client.post("/api/servers", json=body)
    assert refused.status_code == 400 and refused.json()["error"].endswith((".", ":8000."))
