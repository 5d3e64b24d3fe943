"""`specviz run` against real vLLM servers: what the JSON says must be what the server did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import httpx2
import pytest

from specviz.cli import main
from specviz.errors import RequestRefused
from specviz.methods import Method
from specviz.servers.client.engine import open_server
from specviz.servers.launch.server import Server
from specviz.servers.vllm.metrics import SpecCounters, parse_counters
from tests.support import specviz_command

pytestmark = pytest.mark.integration

KINDS = ["draft_server", pytest.param("ngram_server", marks=pytest.mark.slow)]

PROMPTS = (
    "Write a Python function that returns the largest even number in a list.",
    "Translate to Korean: The teacher reads a book in the library.",
)
SAMPLED = ("--temperature", "0.8", "--seed", "5")


def specviz(server: Server, prompt: str, db: Path, *options: str) -> dict[str, Any]:
    """Run the command as a user does and return its JSON."""
    asked = ["run", "--engine", "vllm", "--server", server.url, "--prompt", prompt]
    return specviz_command.specviz(db, *asked, "--max-tokens", "48", *options, timeout_s=120)


def counters(server: Server) -> SpecCounters:
    found = parse_counters(httpx2.get(f"{server.url}/metrics").text)
    assert found is not None
    return found


@dataclass(frozen=True)
class Asked:
    """The command's documents, one per prompt, and what the server counted meanwhile."""

    documents: list[dict[str, Any]]
    counted: SpecCounters | None
    db: Path


Asks = Callable[..., Asked]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asks:
    """Run the command over `PROMPTS`; what several tests look at is run once."""
    db = tmp_path_factory.mktemp("asked") / "runs.duckdb"
    kept: dict[tuple[str, ...], Asked] = {}

    def ask(server: Server, *options: str) -> Asked:
        key = (server.url, *options)
        if key not in kept:
            is_drafting = server.spec.method is not Method.BASELINE
            before = counters(server) if is_drafting else None
            documents = [specviz(server, prompt, db, *options) for prompt in PROMPTS]
            counted = None if before is None else counters(server) - before
            kept[key] = Asked(documents, counted, db)
        return kept[key]

    return ask


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "runs.duckdb"


def check_steps(document: dict[str, Any]) -> None:
    """Every step adds up, and the tokens of the steps are the tokens of the answer."""
    for step in document["steps"]:
        verdicts = [token["verdict"] for token in step["drafted"]]
        accepted = verdicts.count("accepted")
        assert verdicts == ["accepted"] * accepted + ["rejected"] * (accepted < len(verdicts)) + [
            "unverified"
        ] * max(0, len(verdicts) - accepted - 1)
        origins = [token["origin"] for token in step["emitted"]]
        assert origins.count("accepted") <= accepted
    emitted = [token["token_id"] for step in document["steps"] for token in step["emitted"]]
    assert emitted == document["token_ids"]


@pytest.mark.parametrize(
    "sampling",
    [
        pytest.param((), id="greedy", marks=pytest.mark.slow),
        pytest.param(SAMPLED, id="sampled"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_step_adds_up_and_the_sums_are_the_servers(
    request: pytest.FixtureRequest, asked: Asks, kind: str, sampling: tuple[str, ...]
) -> None:
    found = asked(request.getfixturevalue(kind), *sampling)
    assert found.counted is not None
    for document in found.documents:
        assert document["fidelity"] == "traced"
        check_steps(document)
    total = {
        name: sum(document["metrics"][name] for document in found.documents)
        for name in ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
    }
    assert total == {
        "num_drafts": found.counted.num_drafts,
        "num_draft_tokens": found.counted.num_draft_tokens,
        "num_accepted_tokens": found.counted.num_accepted_tokens,
    }


def test_accept_prob_and_u_reproduce_every_verdict_of_a_sampled_run(
    draft_server: Server, asked: Asks
) -> None:
    judged = [
        token
        for document in asked(draft_server, *SAMPLED).documents
        for step in document["steps"]
        for token in step["drafted"]
        if token["verdict"] != "unverified"
    ]
    assert {token["verdict"] for token in judged} == {"accepted", "rejected"}
    for token in judged:
        ratio = token["target_prob"] / token["draft_prob"]
        assert token["accept_prob"] == pytest.approx(min(1.0, ratio), rel=1e-5)
        assert (token["u"] <= token["accept_prob"]) == (token["verdict"] == "accepted")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_greedy_text_equals_the_baselines(
    request: pytest.FixtureRequest, baseline_server: Server, asked: Asks, kind: str
) -> None:
    plains = asked(baseline_server).documents
    for plain, speculated in zip(
        plains, asked(request.getfixturevalue(kind)).documents, strict=True
    ):
        assert plain["method"] == "baseline"
        assert {token["origin"] for step in plain["steps"] for token in step["emitted"]} == {
            "target"
        }
        assert speculated["token_ids"] == plain["token_ids"]


@pytest.mark.slow
def test_a_server_without_the_plugin_is_counted_and_agrees_with_the_traced_one(
    stock_server: Server, draft_server: Server, asked: Asks, db: Path
) -> None:
    for prompt, traced in zip(PROMPTS, asked(draft_server).documents, strict=True):
        before = counters(stock_server)
        counted = specviz(stock_server, prompt, db, "--method", "draft_model")
        difference = counters(stock_server) - before
        assert (counted["fidelity"], traced["fidelity"]) == ("counted", "traced")
        check_steps(counted)
        assert counted["metrics"]["num_draft_tokens"] == difference.num_draft_tokens
        assert counted["token_ids"] == traced["token_ids"]
        labels = [
            [token["origin"] for step in document["steps"] for token in step["emitted"]]
            for document in (counted, traced)
        ]
        assert labels[0] == labels[1]


def test_the_run_is_in_the_database_with_every_decision(draft_server: Server, asked: Asks) -> None:
    found = asked(draft_server, *SAMPLED)
    document = found.documents[0]
    drafted = sum(len(step["drafted"]) for step in document["steps"])
    with duckdb.connect(str(found.db), read_only=True) as connection:
        row = connection.execute(
            "SELECT r.status, r.method, r.k, q.fidelity, "
            "(SELECT count(*) FROM decisions d WHERE d.request_id = q.request_id) "
            "FROM runs r JOIN requests q USING (run_id) WHERE run_id = ?",
            [document["run_id"]],
        ).fetchone()
    assert row is not None
    assert [str(value) for value in row] == ["finished", "draft_model", "4", "traced", str(drafted)]


def test_a_prompt_longer_than_the_context_is_refused_in_the_servers_words(
    draft_server: Server, db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(draft_server, db, "--prompt", "word " * 5000)
    said = capsys.readouterr()
    assert said.out == ""
    assert "context" in said.err and len(said.err.strip().splitlines()) == 1


def refused(server: Server, db: Path, *options: str) -> None:
    """The command, in this process, ends with exit code 1."""
    with pytest.raises(SystemExit) as ended:
        main(["run", "--server", server.url, "--db", str(db), *options])
    assert ended.value.code == 1


@pytest.mark.parametrize(
    ("method", "k"),
    [(Method.NGRAM, None), pytest.param(Method.DRAFT_MODEL, 7, marks=pytest.mark.slow)],
)
def test_a_server_that_runs_something_else_is_said(
    draft_server: Server,
    db: Path,
    capsys: pytest.CaptureFixture[str],
    method: Method,
    k: int | None,
) -> None:
    options = ["--method", method.value, *(["--k", str(k)] if k else [])]
    refused(draft_server, db, "--prompt", "hello", *options)
    assert "runs" in capsys.readouterr().err


async def test_a_wrong_model_name_names_the_right_one(draft_server: Server) -> None:
    with pytest.raises(RequestRefused, match="serves"):
        await open_server(draft_server.url, model="other")
