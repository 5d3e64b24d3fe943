"""Each kind of server is recognised, and none is taken for another."""

from __future__ import annotations

import httpx2
import pytest

from specviz.servers.client.probe import FoundServer
from specviz.servers.dialect import Dialect
from specviz.servers.kinds import KINDS, OPENAI
from specviz.servers.tensorrt_llm.dialect import TENSORRT_LLM
from specviz.servers.vllm.dialect import VLLM
from tests.support.servers.hostile_server import HostileServer, Says
from tests.support.servers.kind_pages import PAGES, models, page

SERVERS: dict[Dialect, dict[str, Says]] = {
    **{kind: PAGES[kind.engine] for kind in KINDS if kind.engine in PAGES},
    OPENAI: {"/v1/models": models("somebody")},
}


async def found(pages: dict[str, Says]) -> FoundServer:
    server, http = await HostileServer(pages).found()
    await http.aclose()
    return server


def test_every_kind_has_its_pages() -> None:
    assert {kind.engine for kind in KINDS} == set(PAGES)


@pytest.mark.parametrize("kind", SERVERS, ids=lambda kind: kind.engine.value)
async def test_each_kind_is_recognised(kind: Dialect) -> None:
    server = await found(SERVERS[kind])
    assert server.dialect is kind
    assert server.model == "demo"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.engine.value)
async def test_no_kind_takes_another_for_itself(kind: Dialect) -> None:
    """Whatever the order in which they are asked, but for `/version`: TensorRT-LLM has it, too."""
    for other, pages in SERVERS.items():
        if other is kind or (kind, other) == (VLLM, TENSORRT_LLM):
            continue
        said = {path: text for path, text in pages.items() if isinstance(text, str)}

        async def get(path: str, said: dict[str, str] = said) -> str | None:
            return said.get(path)

        assert await kind.identify(get) is None, other.name


async def test_tensorrt_llm_is_asked_before_vllm() -> None:
    assert KINDS.index(TENSORRT_LLM) < KINDS.index(VLLM)


async def test_a_gateway_that_only_passes_the_list_of_models_on_is_not_sglang() -> None:
    server = await found({"/v1/models": models("sglang")})
    assert server.dialect is OPENAI


async def test_every_page_is_asked_for_once() -> None:
    server = HostileServer({})
    _, http = await server.found()
    await http.aclose()
    assert len(server.asked) == len(set(server.asked))


@pytest.mark.parametrize("owned_by", [None, 3, [], {"a": 1}, "", "x" * 10_000])
async def test_an_owner_that_is_no_name_is_nobody(owned_by: object) -> None:
    listing = page({"data": [{"id": "demo", "owned_by": owned_by}]})
    assert (await found({"/v1/models": listing})).dialect is OPENAI


@pytest.mark.parametrize("said", ["[]", '{"data": 3}', '{"data": []}', '{"data": [1]}', "<html>"])
async def test_a_list_of_models_that_is_none_is_not_lm_studios(said: str) -> None:
    assert (await found({"/api/v0/models": said})).dialect is OPENAI


async def test_a_page_that_hangs_is_no_page() -> None:
    class Silent(HostileServer):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if request.url.path != "/v1/models":
                raise httpx2.ReadTimeout("nothing came")
            return await super().handle_async_request(request)

    server, http = await Silent({"/v1/models": models("sglang")}).found()
    await http.aclose()
    assert server.dialect is OPENAI
