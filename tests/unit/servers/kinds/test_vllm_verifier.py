"""Which rule a vLLM server accepts drafts by (`config/speculative.py` of 0.32 and 0.33)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specviz.config import EngineKind, RunConfig
from specviz.methods import Method
from specviz.opening import _completed
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.engine import ServerEngine
from tests.support.servers.hostile_server import HANDSHAKE, METRICS, HostileServer
from tests.support.servers.kind_pages import vllm


async def capabilities(**said: Any) -> Capabilities:
    handshake = json.dumps({**json.loads(HANDSHAKE), **said})
    found, http = await HostileServer(vllm(**{"/specviz/handshake": handshake})).found()
    await http.aclose()
    return found.capabilities


@pytest.mark.parametrize(
    ("method", "lossless"),
    [("standard", True), ("block", True), ("synthetic", False), ("fly", False), ("new", None)],
)
async def test_the_handshake_names_the_rule(method: str, lossless: bool | None) -> None:
    verifier = (await capabilities(rejection_sample_method=method)).verifier
    assert verifier is not None
    assert (verifier.name, verifier.is_lossless) == (method, lossless)


async def test_an_older_plugin_does_not_report_it() -> None:
    assert (await capabilities()).verifier is None
    assert (await capabilities(rejection_sample_method=None)).verifier is None


async def test_the_handshake_names_the_runner_and_what_is_hidden() -> None:
    said = await capabilities(runner="v2", hidden=["Batch-sharded sampling is on."])
    assert (said.runner, said.hidden) == ("v2", ("Batch-sharded sampling is on.",))
    assert (await capabilities(hidden=[])).hidden == ()
    assert not (await capabilities(hidden=["x"] * 1000)).tracing


@pytest.mark.parametrize("method", [3, "", [], "x" * 10_000])
async def test_a_rule_that_is_no_name_is_not_believed(method: object) -> None:
    said = await capabilities(rejection_sample_method=method)
    assert said.verifier is None and not said.tracing


DRAFTING: dict[str, Any] = {
    "method": "eagle3",
    "num_speculative_tokens": 3,
    "model": "/models/head",
    "rejection_sample_method": "fly",
    "draft_sample_method": "greedy",
}


async def without_plugin(drafting: Any) -> Capabilities:
    info = json.dumps({"vllm_config": {"speculative_config": drafting}, "vllm_env": {}})
    found, http = await HostileServer(vllm(**{"/server_info": info, "/metrics": METRICS})).found()
    await http.aclose()
    return found.capabilities


async def test_without_the_plugin_a_server_in_development_mode_says_it() -> None:
    said = await without_plugin(DRAFTING)
    assert (said.method, said.k, said.draft) == (Method.EAGLE3, 3, "/models/head")
    assert said.verifier is not None and said.verifier.is_lossless is False


async def test_a_lookup_has_no_draft() -> None:
    said = await without_plugin({**DRAFTING, "method": "ngram", "model": "ngram"})
    assert (said.method, said.draft) == (Method.NGRAM, None)


@pytest.mark.parametrize(
    "drafting",
    [None, [], "x", *({**DRAFTING, name: [1]} for name in DRAFTING if name[0] != "d")],
)
async def test_a_page_that_cannot_be_true_changes_nothing(drafting: Any) -> None:
    said = await without_plugin(drafting)
    assert (said.version, said.method, said.k, said.verifier) == ("0.32.0", None, None, None)


async def test_an_arm_of_a_server_that_is_not_lossless_says_so() -> None:
    """Stored as the option that the embedded engine's typical acceptance has."""
    info = json.dumps({"vllm_config": {"speculative_config": DRAFTING}})
    found, http = await HostileServer(vllm(**{"/server_info": info, "/metrics": METRICS})).found()
    engine = ServerEngine(found, http)
    config = _completed(RunConfig(EngineKind.VLLM, None), engine)
    await engine.close()
    assert config.title == "eagle3 · K 3 · fly, not lossless"
    assert not config.is_lossless and not config.judges_typically
