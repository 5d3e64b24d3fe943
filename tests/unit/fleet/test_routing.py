"""Which server a proxy sends a request to, and what specviz writes for it."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.errors import UsageError
from specviz.fleet.document import document
from specviz.fleet.health import Health
from specviz.fleet.routing.litellm import STRATEGY, litellm_files
from specviz.fleet.routing.route import Route, route_of, routing_rows
from specviz.fleet.routing.vllm_router import vllm_router_command
from specviz.policy.policy import Basis, Policy, Row
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.probe import FoundServer
from specviz.servers.dialect import Dialect
from specviz.servers.llama_cpp.dialect import LLAMA_CPP
from specviz.servers.vllm.dialect import VLLM
from specviz.store.named_servers import NamedServer

AT = datetime(2026, 11, 22, tzinfo=UTC)
FAST = NamedServer("fast", "http://gpu-1:8000", AT, key_env="GPU1_API_KEY")
PLAIN = NamedServer("plain", "http://gpu-2:8000", AT, baseline_of="fast")
ALONE = NamedServer("alone", "http://gpu-3:8000", AT)
ROUTE = Route("m", (PLAIN,), (FAST,), ("logit_bias", "min_p"))


def row(*k: int, temperature: float | None = None, **given: Any) -> Row:
    return Row(k, (Basis.MEASURED,) * len(k), temperature, **given)


POLICY = Policy(5, (1, 4, 16), (row(5, 3, 0, temperature=0.5), row(2, 0, 0, temperature=1.0),
                                row(0, 0, 0)))  # fmt: skip


def up(
    server: NamedServer, model: str = "m", kind: Dialect = VLLM, *, speculates: bool | None = None
) -> dict[str, Health]:
    capabilities = Capabilities(speculates=speculates)
    found = FoundServer(server.url, model, (model,), kind, capabilities)
    return {server.url: Health(server.url, AT, found)}


def test_the_servers_with_a_plain_one_and_those_plain_ones_are_behind_the_proxy() -> None:
    health = up(FAST, speculates=True) | up(PLAIN)
    assert route_of(document([FAST, PLAIN, ALONE], health)) == ROUTE
    llama = up(FAST, kind=LLAMA_CPP, speculates=True) | up(PLAIN, kind=LLAMA_CPP)
    assert route_of(document([FAST, PLAIN], llama)).refused == ()  # llama.cpp refuses neither


@pytest.mark.parametrize(
    ("servers", "health", "says"),
    [
        ([FAST, ALONE], {}, "No server of the fleet is the plain one"),
        ([FAST, PLAIN], up(FAST), "plain does not answer"),
        ([FAST, PLAIN], up(FAST) | up(PLAIN, "other"), "one model under one name"),
        ([FAST, PLAIN], up(FAST, speculates=False) | up(PLAIN), "does not speculate"),
    ],
)
def test_a_fleet_that_no_proxy_can_serve(
    servers: list[NamedServer], health: dict[str, Health], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        route_of(document(servers, health))


def test_the_configuration_names_both_groups_and_no_key() -> None:
    files = litellm_files(ROUTE, POLICY)
    config = json.loads(files["config.yaml"])
    assert [(one["model_name"], one["model_info"]["id"], one["litellm_params"]["api_key"])
            for one in config["model_list"]] == [
        ("m/plain", "plain", "none"),
        ("m/speculating", "fast", "os.environ/GPU1_API_KEY"),
    ]  # fmt: skip
    assert config["router_settings"]["fallbacks"] == [
        {"m/plain": ["m/speculating"]},
        {"m/speculating": ["m/plain"]},
    ]
    assert config["litellm_settings"]["callbacks"] == "specviz_routing.routing"


def test_rows_for_a_kind_of_prompt_are_left_out() -> None:
    policy = Policy(5, (4,), (row(5, category="code"), row(0)))
    assert [found.speculates for found in routing_rows(policy)] == [(False,)]


def test_load_alone_is_a_command() -> None:
    assert vllm_router_command(ROUTE)[:4] == ["vllm-router", "--worker-urls", PLAIN.url, FAST.url]


def strategy(folder: Path, route: Route, policy: Policy) -> ModuleType:
    """The strategy as LiteLLM would load it, with a stand-in for LiteLLM's base class."""
    folder.mkdir(exist_ok=True)
    for name, text in litellm_files(route, policy).items():
        (folder / name).write_text(text)
    logger = ModuleType("litellm.integrations.custom_logger")
    logger.CustomLogger = object  # type: ignore[attr-defined]
    names = ("litellm", "litellm.integrations", logger.__name__)
    before = {name: sys.modules.get(name) for name in names}
    sys.modules |= {name: logger for name in names}
    try:
        spec = importlib.util.spec_from_file_location("routing_under_test", folder / STRATEGY)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        for name, module_before in before.items():
            if module_before is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module_before
    return module


@pytest.fixture(scope="module")
def routing(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return strategy(tmp_path_factory.mktemp("proxy"), ROUTE, POLICY)


@given(st.floats(0, 2), st.floats(0.05, 1), st.integers(0, 40))
def test_the_strategy_says_what_the_policy_says(
    routing: ModuleType, temperature: float, top_p: float, in_flight: int
) -> None:
    request = {"temperature": temperature, "top_p": top_p}
    speculates = POLICY.k(in_flight + 1, temperature, top_p) > 0
    wanted = "m/speculating" if speculates else "m/plain"
    assert routing.group_of(request, in_flight) == wanted


def test_what_a_speculating_server_refuses_goes_to_the_plain_one(routing: ModuleType) -> None:
    assert routing.group_of({"temperature": 0}, 0) == "m/speculating"
    assert routing.group_of({"temperature": 0, "min_p": 0.1}, 0) == "m/plain"
    assert routing.group_of({"temperature": 0, "min_p": 0}, 0) == "m/speculating"  # off
    assert routing.group_of({"temperature": 0, "logit_bias": {"5": 1}}, 0) == "m/plain"
    assert routing.group_of({}, 1) == "m/plain"  # no temperature is OpenAI's 1


def test_several_speculating_servers_share_what_is_running(tmp_path: Path) -> None:
    second = NamedServer("second", "http://gpu-4:8000", AT)
    two = strategy(tmp_path, Route("m", (PLAIN,), (FAST, second), ()), POLICY)
    assert two.group_of({"temperature": 0}, 6) == "m/speculating"  # 4 each
    assert two.group_of({"temperature": 0}, 7) == "m/plain"


def test_requests_are_counted_from_their_choice_to_their_end(routing: ModuleType) -> None:
    hook = routing.Routing()

    def ask(call: str, **given: Any) -> str:
        data = {"model": "m", "temperature": 0, "litellm_call_id": call, **given}
        return str(asyncio.run(hook.async_pre_call_hook(None, None, data, "completion"))["model"])

    sent = [ask(str(number)) for number in range(6)]
    assert sent == ["m/speculating"] * 4 + ["m/plain"] * 2
    asyncio.run(hook.async_log_success_event({"litellm_call_id": "0"}, None, 0, 0))
    assert [ask("6"), ask("7")] == ["m/speculating", "m/plain"]
    asyncio.run(hook.async_log_failure_event({"litellm_call_id": "6"}, None, 0, 0))
    hook.speculating = dict.fromkeys(hook.speculating, -1e9)  # never heard of again
    assert ask("8") == "m/speculating" and len(hook.speculating) == 1
    assert ask("9", model="another") == "another"
