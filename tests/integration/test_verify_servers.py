"""`specviz verify` on real servers: all holds, and what is broken on purpose fails on its line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from specviz.methods import Method
from specviz.paths import DEMO_DRAFT, DEMO_TARGET
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import ServerPool
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.verify.asking import Size
from specviz.verify.finding import Finding, Outcome, exit_code
from specviz.verify.flow import Pair, verify

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

SIZE = Size(prompts=8, max_tokens=48, batches=(1, 4), tracing_rounds=2, tracing_tokens=16)
FEW = replace(SIZE, answers=2, batches=(1,))
"""For lines that need no sampled answers."""

Start = Callable[[ServerSpec], Server]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerPool]:
    pool = ServerPool(tmp_path_factory.mktemp("logs"))
    yield pool
    pool.close()


def by_check(pool: ServerPool, baseline: Server, other: Server, size: Size) -> dict[str, Finding]:
    pair = Pair(baseline.url, other.url)
    return {one.check: one for one in verify(pair, size, pool, print)}


def speculating(model: Path = DEMO_TARGET, *flags: str) -> ServerSpec:
    return ServerSpec(
        LAUNCHER, str(model), Method.DRAFT_MODEL, str(DEMO_DRAFT), 4, extra_args=flags
    )


def test_all_of_it_holds(pool: ServerPool, baseline_server: Server, draft_server: Server) -> None:
    found = by_check(pool, baseline_server, draft_server, SIZE)
    assert exit_code(found.values()) == 0, [one.sentence for one in found.values()]
    assert {one.outcome for one in found.values()} == {Outcome.HOLDS}
    counters = found["counters"].figures
    assert counters["num_draft_tokens"] == counters["server_num_draft_tokens"] > 100
    assert found["verdicts"].figures["drawn"] > 50


def test_lookups_hold_too(pool: ServerPool, baseline_server: Server, ngram_server: Server) -> None:
    found = by_check(pool, baseline_server, ngram_server, FEW)
    assert found["counters"].outcome is Outcome.HOLDS, found["counters"].sentence
    assert found["verdicts"].outcome is Outcome.HOLDS, found["verdicts"].sentence
    assert found["greedy"].outcome is Outcome.HOLDS, found["greedy"].sentence


def test_wrong_sampling_of_the_stock_cpu_build_is_noticed(
    pool: ServerPool, baseline_server: Server, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_NO_FIXES", "1")
    server = start(speculating())
    found = by_check(pool, baseline_server, server, SIZE)
    server.stop()
    assert found["sampling"].outcome is Outcome.FAILS, found["sampling"].sentence
    assert found["greedy"].outcome is Outcome.HOLDS


def test_another_model_as_baseline_is_noticed(
    pool: ServerPool, draft_server: Server, start: Start
) -> None:
    small = start(ServerSpec(LAUNCHER, str(DEMO_DRAFT)))
    found = by_check(pool, small, draft_server, FEW)
    small.stop()
    assert found["greedy"].outcome is Outcome.FAILS, found["greedy"].sentence


def test_a_swapped_tokenizer_is_noticed(
    pool: ServerPool, baseline_server: Server, start: Start, tmp_path: Path
) -> None:
    """The same weights, but two common words of the vocabulary have changed places."""
    model = tmp_path / "demo-target"
    shutil.copytree(DEMO_TARGET, model)
    file = model / "tokenizer.json"
    tokenizer = json.loads(file.read_text(encoding="utf-8"))
    words = tokenizer["model"]["vocab"]
    words["Ġthe"], words["Ġa"] = words["Ġa"], words["Ġthe"]
    file.write_text(json.dumps(tokenizer), encoding="utf-8")
    server = start(speculating(model))
    found = by_check(pool, baseline_server, server, FEW)
    server.stop()
    assert found["greedy"].outcome is Outcome.FAILS, found["greedy"].sentence


def test_counters_that_are_off_are_not_measured(
    pool: ServerPool, baseline_server: Server, start: Start
) -> None:
    server = start(speculating(DEMO_TARGET, "--disable-log-stats"))
    found = by_check(pool, baseline_server, server, FEW)
    server.stop()
    assert found["counters"].outcome is Outcome.NOT_MEASURED
    assert exit_code(found.values()) == 2
