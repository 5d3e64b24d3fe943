"""What opening an arm says where something is missing, and what it stores of a server."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from specviz import opening
from specviz.config import EngineKind, RunConfig
from specviz.errors import EngineError
from specviz.methods import Method
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.engine import ServerEngine
from specviz.servers.client.probe import FoundServer
from specviz.servers.dialect import Dialect
from specviz.servers.kinds import OPENAI
from specviz.servers.vllm.dialect import VLLM


async def test_without_torch_the_embedded_engine_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [*sys.modules]:
        if name == "torch" or name.startswith("specviz.engines.embedded."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("specviz.engines.embedded.opening", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    config = RunConfig(EngineKind.EMBEDDED, Method.BASELINE)
    with pytest.raises(EngineError, match="needs torch, which is not installed here: run `make"):
        await opening.open_arm(config, pool=None, note=print)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dialect", "stored"), [(OPENAI, EngineKind.OPENAI), (VLLM, EngineKind.VLLM)]
)
def test_an_attached_server_is_stored_as_what_it_is(dialect: Dialect, stored: EngineKind) -> None:
    server = FoundServer("http://127.0.0.1:1", "m", ("m",), dialect, Capabilities())
    engine = ServerEngine.__new__(ServerEngine)  # opened on no connection
    engine.server, engine.model, engine.traced = server, "m", False
    engine.method, engine.k = Method.NGRAM, 3
    config = RunConfig(EngineKind.VLLM, Method.NGRAM, 3, server_url=server.url)
    complete = opening._completed(config, engine)
    assert complete.engine is stored
    assert replace(complete, engine=EngineKind.VLLM).server_url == server.url
