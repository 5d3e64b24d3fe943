"""LiteLLM's proxy as `specviz servers route` configures it, in front of real servers: each request
is answered where the rule says, by the servers' own counters too, and a dead server costs none."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx2
import pytest

from specviz.methods import Method
from specviz.paths import PROJECT_ROOT
from specviz.policy.file import policy_toml
from specviz.policy.policy import Basis, Policy, Row
from specviz.servers.launch.launcher import Launcher, ServerSpec
from specviz.servers.launch.server import Server, free_port
from specviz.servers.llama_cpp.dialect import LAUNCHER as LLAMA_CPP
from specviz.servers.vllm.dialect import LAUNCHER as VLLM_LAUNCHER
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET
from tests.support.specviz_command import specviz

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

REQUESTS = 200
TEMPERATURES = (0.0, 0.7, 1.3, None)  # none: 1, as OpenAI has it
HOT = {"temperature": 1.3}

Start = Callable[[ServerSpec], Server]


def policy(*columns: int) -> Policy:
    """Speculation up to temperature 1 in all columns but the last, and never above it."""

    def row(k: int, temperature: float | None) -> Row:
        ks = (*(k,) * (len(columns) - 1), 0)
        return Row(ks, (Basis.EDITED,) * len(ks), temperature)

    return Policy(3, columns, (row(3, 1.0), row(0, None)))


@dataclass
class Fleet:
    proxy: str
    model: str
    plain: Server
    speculating: Server

    def ask(self, number: int, **given: object) -> tuple[str, int, str]:
        """Who answered, its tokens and the text."""
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": f"Name {number + 2} colours, please."}],
            "max_tokens": 12,
            **{name: value for name, value in given.items() if value is not None},
        }
        answer = httpx2.post(f"{self.proxy}/v1/chat/completions", json=body, timeout=60)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        tokens = found["usage"]["completion_tokens"]
        return (
            answer.headers["x-litellm-model-id"],
            tokens,
            found["choices"][0]["message"]["content"],
        )


def counted(server: Server) -> Counter[str]:
    """The server's own counters, by their last word."""
    wanted = {
        "llamacpp:tokens_predicted_total": "tokens",
        "llamacpp:spec_decode_num_drafts_total": "drafts",
        "vllm:generation_tokens_total": "tokens",
        "vllm:spec_decode_num_drafts_total": "drafts",
    }
    found: Counter[str] = Counter()
    for line in httpx2.get(f"{server.url}/metrics").text.splitlines():
        name, _, value = line.rpartition(" ")
        if word := wanted.get(name.partition("{")[0]):
            found[word] += round(float(value))
    return found


@pytest.fixture(scope="module")
def litellm() -> str:
    """LiteLLM's command, in its own environment."""
    done = subprocess.run(
        ["scripts/litellm.sh"], cwd=PROJECT_ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"LiteLLM cannot be installed here: {done.stderr[-300:]}")
    return done.stdout.strip()


@pytest.fixture(scope="module", params=[LLAMA_CPP, VLLM_LAUNCHER], ids=lambda one: one.engine.value)
def pair(request: pytest.FixtureRequest, start: Start) -> tuple[Server, Server]:
    """Plain and speculating. The last test of the file stops the second."""
    launcher: Launcher = request.param
    drafting = ServerSpec(launcher, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT), 3)
    return start(ServerSpec(launcher, str(DEMO_TARGET))), start(drafting)


@pytest.fixture
def new_fleet(
    litellm: str, pair: tuple[Server, Server], tmp_path: Path
) -> Iterator[Callable[[Policy], Fleet]]:
    plain, speculating = pair
    proxies: list[subprocess.Popen[bytes]] = []

    def make(rule: Policy) -> Fleet:
        folder = tmp_path / f"proxy-{len(proxies)}"
        database, file = tmp_path / f"{len(proxies)}.duckdb", tmp_path / f"{len(proxies)}.toml"
        file.write_text(policy_toml(rule))
        servers = partial(specviz, database, "servers", timeout_s=120)
        servers("add", "fast", speculating.url)
        servers("add", "plain", plain.url, "--baseline-of", "fast")
        found = servers("route", "--litellm", str(folder), "--policy", str(file))
        assert (found["plain"], found["speculating"]) == (["plain"], ["fast"])
        port = free_port()
        address = ["--host", "127.0.0.1", "--port", str(port)]
        with (folder / "log").open("wb") as log:
            proxies.append(
                subprocess.Popen(
                    [litellm, "--config", "config.yaml", *address],
                    cwd=folder, stdout=log, stderr=subprocess.STDOUT,
                    env=os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
                )
            )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        wait_for(url, proxies[-1], folder / "log")
        return Fleet(url, found["model"], plain, speculating)

    yield make
    for proxy in proxies:
        proxy.terminate()
        proxy.wait(20)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            if httpx2.get(f"{url}/health/liveliness", timeout=2).status_code == 200:
                return
        except httpx2.HTTPError:
            time.sleep(0.2)
    raise AssertionError(log.read_text()[-2000:])


def test_every_request_is_answered_where_the_rule_says(
    new_fleet: Callable[[Policy], Fleet],
) -> None:
    fleet = new_fleet(policy(16, 1000))
    before = counted(fleet.plain), counted(fleet.speculating)
    given = [{"temperature": TEMPERATURES[number % 4]} for number in range(REQUESTS)]
    if fleet.plain.spec.launcher is not LLAMA_CPP:  # vLLM refuses it while speculating
        given[::8] = [{"temperature": 0.0, "min_p": 0.1}] * len(given[::8])
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(lambda i: fleet.ask(i, **given[i]), range(REQUESTS)))
    for asked, (server, _, _) in zip(given, answers, strict=True):
        hot = asked["temperature"] == 1.3 or "min_p" in asked
        assert server == ("plain" if hot else "fast"), asked
    time.sleep(0.5)  # a server counts a step shortly after it has answered
    tokens = Counter[str]()
    for server, count, _ in answers:
        tokens[server] += count
    after = counted(fleet.plain), counted(fleet.speculating)
    plain, fast = (later - earlier for later, earlier in zip(after, before, strict=True))
    assert (plain["tokens"], fast["tokens"]) == (tokens["plain"], tokens["fast"])
    assert plain["drafts"] == 0 < fast["drafts"]


def test_no_more_speculate_than_pay_and_a_dead_server_costs_no_request(
    new_fleet: Callable[[Policy], Fleet],
) -> None:
    fleet = new_fleet(policy(2, 1000))
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda i: fleet.ask(i, temperature=0.0)[0], range(8)))
    assert 2 <= together.count("fast") < 8  # the ninth column is plain, whatever the temperature
    alone = {fleet.ask(number, temperature=0.0)[0] for number in range(3)}
    assert alone == {"fast"}  # what ended no longer counts
    fleet.speculating.stop()
    assert {fleet.ask(number, temperature=0.0)[0] for number in range(10)} == {"plain"}
