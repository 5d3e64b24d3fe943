"""K per request inside real vLLM servers: V1 with the synchronous scheduler, and V2 with the
asynchronous one that GPUs use."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx2
import pytest

from specviz.config import Prompt, Sampling
from specviz.errors import RequestRefused
from specviz.methods import Method
from specviz.servers.client.engine import open_server
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.timing.timed_server import open_timed_server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.servers.vllm.scheduler.decision import ASKED
from specviz.trace import Step, fold
from specviz.verify.same_distribution import Asked, same_distribution
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET
from tests.support.v2.on_cpu import v2_variables

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

K = 5
UNTIED = 24
"""Tokens before bfloat16 makes two of them equally likely, between which min_p 1 draws."""

POLICY = """
version = 1
num_speculative_tokens = 5
requests_running = [1, 4]
hold_steps = 1

[[rows]]
temperature = 0.7
k = [5, 3]

[[rows]]
category = "summarization"
k = [1, 1]

[[rows]]
k = [0, 0]
"""
Ask = Callable[..., Any]
Counters = Callable[[Server], dict[str, float]]


@pytest.fixture(scope="module")
def policy_spec(tmp_path_factory: pytest.TempPathFactory) -> ServerSpec:
    path = tmp_path_factory.mktemp("policy") / "policy.toml"
    path.write_text(POLICY)
    draft = str(DEMO_DRAFT)
    return ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, draft, K, policy=path)


@pytest.fixture(scope="module")
def server(policy_spec: ServerSpec, start: Callable[[ServerSpec], Server]) -> Iterator[Server]:
    server = start(policy_spec)
    yield server
    server.stop()


def wish(**wishes: object) -> dict[str, Any]:
    return {"vllm_xargs": wishes}


def drafted(answer: Any) -> list[int]:
    """Draft tokens per verification step, by vLLM's own count."""
    counted: dict[str, Any] = answer.last["metrics"]["speculative_decoding"]
    return list(counted.get("per_step_drafted") or ())  # left out where nothing was drafted


def assert_traced(answer: Any, k: int) -> None:
    """Every line has the draft that vLLM counted, and reports the K that the request asked for."""
    assert [len(line["drafted"]) for line in answer.lines if line["drafted"]] == drafted(answer)
    allowed = [line["allowed"] for line in answer.lines]
    assert allowed == [None] + [{"k": k, "reason": ASKED}] * (len(allowed) - 1)


def decisions(server: Server) -> dict[str, float]:
    """`specviz_policy_decisions_total` by reason."""
    prefix = 'specviz_policy_decisions_total{reason="'
    page = httpx2.get(f"{server.url}/metrics", timeout=30.0).text
    lines = [line for line in page.splitlines() if line.startswith(prefix)]
    return {line[len(prefix) :].rpartition('"} ')[0]: float(line.split()[-1]) for line in lines}


@pytest.mark.parametrize("k", [0, 2, K])
def test_a_request_gets_the_k_that_it_asks_for(
    server: Server, ask: Ask, spec_counters: Counters, k: int
) -> None:
    reference = ask(server).token_ids
    before = spec_counters(server)
    answer = ask(server, **wish(spec_k=k))
    after = spec_counters(server)
    assert answer.token_ids == reference
    found = drafted(answer)
    assert max(found, default=0) == k
    assert all(one == k for one in found[:-1])  # the last is cut by the answer's length
    assert after["draft_tokens"] - before["draft_tokens"] == sum(found)
    assert after["drafts"] - before["drafts"] == len(found)
    assert_traced(answer, k)


def test_the_policy_decides_from_temperature_and_the_kind_of_prompt(
    server: Server, ask: Ask
) -> None:
    def allowed(**body: Any) -> set[tuple[int, str]]:
        answer = ask(server, **body)
        lines = [line["allowed"] for line in answer.lines[1:]]
        found = {(one["k"], one["reason"]) for one in lines}
        assert max(drafted(answer), default=0) == max(k for k, _ in found)
        return found

    assert allowed() == {(5, "policy: temperature ≤ 0.7, 1 running")}
    assert allowed(temperature=0.7) == {(5, "policy: temperature ≤ 0.7, 1 running")}
    assert allowed(temperature=0.71) == {(0, "policy: any request, 1 running")}
    kind = wish(category="summarization")
    assert allowed(temperature=1.3, **kind) == {(1, "policy: summarization, 1 running")}


def test_sixteen_requests_of_different_k_at_once(
    server: Server, ask: Ask, spec_counters: Counters
) -> None:
    reference = ask(server).token_ids
    wishes = [index % (K + 1) for index in range(16)]
    before, counted = spec_counters(server), decisions(server)
    together = threading.Barrier(len(wishes))

    def one(k: int) -> Any:
        together.wait()
        return ask(server, **wish(spec_k=k))

    with ThreadPoolExecutor(len(wishes)) as pool:
        answers = list(pool.map(one, wishes))
    after = spec_counters(server)
    for k, answer in zip(wishes, answers, strict=True):
        assert answer.token_ids == reference
        assert max(drafted(answer), default=0) == k
        assert_traced(answer, k)
    assert after["draft_tokens"] - before["draft_tokens"] == sum(
        sum(drafted(answer)) for answer in answers
    )
    accepted = sum(line["num_accepted"] for answer in answers for line in answer.lines)
    assert after["accepted_tokens"] - before["accepted_tokens"] == accepted
    steps = sum(len(answer.lines) for answer in answers)
    eventually(lambda: decisions(server)[ASKED] - counted.get(ASKED, 0) == steps)


def eventually(holds: Callable[[], bool]) -> None:
    """The counts are written ten times a second."""
    waiting = threading.Event()
    for _ in range(50):
        if holds():
            return
        waiting.wait(0.1)
    assert holds()


def test_what_vllm_refuses_with_speculation_is_answered_without(
    server: Server, ask: Ask, baseline_server: Server
) -> None:
    """The strongest min_p leaves the greedy token; a bias of 100 leaves its own."""
    greedy = ask(server, max_tokens=UNTIED)
    for body, reason in [
        ({"min_p": 1.0, "temperature": 1.0, "max_tokens": UNTIED}, "min_p"),
        ({"logit_bias": {"40": 100}}, "logit_bias"),
    ]:
        answer = ask(server, **body)
        assert drafted(answer) == []
        assert {line["allowed"]["reason"] for line in answer.lines[1:]} == {reason}
        assert answer.token_ids == ask(baseline_server, **body).token_ids
        if "min_p" in body:
            assert answer.token_ids == greedy.token_ids
        else:
            assert set(answer.token_ids) == {40}


def test_min_p_beside_requests_that_speculate_keeps_its_distribution(
    server: Server, ask: Ask
) -> None:
    greedy = ask(server, max_tokens=UNTIED).token_ids
    cut = {"min_p": 1.0, "temperature": 1.0, "max_tokens": UNTIED}
    bodies = [cut, {"temperature": 0.7}, {}] * 3
    with ThreadPoolExecutor(len(bodies)) as pool:
        answers = list(pool.map(lambda body: ask(server, **body), bodies))
    for body, answer in zip(bodies, answers, strict=True):
        if "min_p" in body:
            assert (answer.token_ids, drafted(answer)) == (greedy, [])


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"spec_k": 6}, "spec_k in vllm_xargs must be a whole number from 0 to 5"),
        ({"spec_k": -1}, "spec_k in vllm_xargs must be a whole number from 0 to 5"),
        ({"spec_k": "two"}, "not 'two'"),
        ({"category": 3}, "category in vllm_xargs must be a text, not 3"),
    ],
)
def test_wishes_that_cannot_be_are_refused(
    server: Server, wishes: dict[str, Any], sentence: str
) -> None:
    body = {"model": server.spec.model, "prompt": "x", "max_tokens": 1, "vllm_xargs": wishes}
    response = httpx2.post(f"{server.url}/v1/completions", json=body, timeout=30.0)
    assert response.status_code == 400
    assert sentence in response.json()["error"]["message"]


async def test_both_clients_ask_and_the_steps_say_what_was_allowed(server: Server) -> None:
    prompt, sampling = Prompt("Write a sum", category="summarization"), Sampling(max_tokens=20)
    engine = await open_server(server.url)
    timed = await open_timed_server(server.url)
    try:
        asked = Sampling(max_tokens=20, spec_k=2)
        steps = fold([event async for event in engine.generate(prompt, asked)]).steps
        assert {limit(step) for step in steps[1:]} == {(2, ASKED)}
        hot = Sampling(1.3, max_tokens=20)
        steps = fold([event async for event in engine.generate(prompt, hot)]).steps
        assert {limit(step) for step in steps[1:]} == {(1, "policy: summarization, 1 running")}
        assert max((await timed.sample(prompt, asked)).per_step_drafted or ()) == 2
        assert max((await timed.sample(prompt, sampling)).per_step_drafted or ()) == K
    finally:
        await engine.close()
        await timed.close()


def limit(step: Step) -> tuple[int, str] | None:
    return step.allowed and (step.allowed.k, step.allowed.reason)


async def test_a_server_without_a_policy_is_not_asked(draft_server: Server) -> None:
    engine = await open_server(draft_server.url)
    try:
        with pytest.raises(RequestRefused, match="follows no policy"):
            async for _ in engine.generate(Prompt("x"), Sampling(spec_k=2)):
                pass
    finally:
        await engine.close()


def test_sampled_text_keeps_its_distribution_while_k_changes(
    tmp_path: Path, start: Callable[[ServerSpec], Server], baseline_server: Server
) -> None:
    """Every request that ends or begins changes K for all others."""
    path = tmp_path / "policy.toml"
    path.write_text(
        "version = 1\nnum_speculative_tokens = 5\nhold_steps = 1\n"
        f"requests_running = {[*range(1, STREAMS + 1)]}\n[[rows]]\nk = {[2, 0, 4, 1, 5, 3] * 2}\n"
    )
    server = start(
        ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT), K, policy=path)
    )
    try:
        prompts = ("def add(a, b):\n    return", "Once upon a time")
        compared, changing = [], Counter[bool]()
        for prompt in prompts:
            answers, drafts = sampled(server, prompt)
            changing.update(len({size for size, _ in groupby(draft[:-1])}) > 1 for draft in drafts)
            plain, _ = sampled(baseline_server, prompt)
            compared.append(Asked(plain, answers, greedy(server, prompt)))
        assert changing[True] > changing[False]  # most answers saw several K
        found = same_distribution(compared)
        assert not found.differs, found
    finally:
        server.stop()


def test_asynchronous_scheduling_on_v2_gives_the_same_k(
    policy_spec: ServerSpec, start: Callable[[ServerSpec], Server], ask: Ask,
    spec_counters: Counters,
) -> None:  # fmt: skip
    """What GPUs use, in Triton's interpreter: short answers."""
    with v2_variables():
        server = start(policy_spec)
    try:
        log = server.log_path.read_text()
        assert "Using V2 Model Runner" in log and "K, in vLLM's AsyncScheduler" in log

        def short(**body: Any) -> Any:
            return ask(server, max_tokens=12, **body)

        reference = short(**wish(spec_k=0)).token_ids
        before = spec_counters(server)
        answers = {k: short(**wish(spec_k=k)) for k in (0, 2, K)}
        for k, answer in answers.items():
            assert answer.token_ids == reference
            assert max(drafted(answer), default=0) == k
            assert_traced(answer, k)
        after = spec_counters(server)
        total = sum(sum(drafted(answer)) for answer in answers.values())
        assert after["draft_tokens"] - before["draft_tokens"] == total
        assert max(drafted(short())) == K
        assert drafted(short(temperature=1.2, seed=1)) == []
        assert short(min_p=1.0, temperature=1.0, seed=1).token_ids == reference
        assert set(short(logit_bias={"40": 100}).token_ids) == {40}
        wishes = [index % (K + 1) for index in range(16)]
        with ThreadPoolExecutor(len(wishes)) as pool:
            together = list(pool.map(lambda k: short(**wish(spec_k=k)), wishes))
        for k, answer in zip(wishes, together, strict=True):
            assert answer.token_ids == reference
            assert max(drafted(answer), default=0) == k
            assert_traced(answer, k)
    finally:
        server.stop()


SAMPLED, STREAMS = 400, 12


def sampled(server: Server, prompt: str) -> tuple[list[list[int]], list[list[int]]]:
    """Token ids of answers of 12 tokens at temperature 0.8, and the drafts per step, if counted."""
    with httpx2.Client(base_url=server.url, timeout=120.0) as client:
        with ThreadPoolExecutor(STREAMS) as pool:
            asked = [pool.submit(one_answer, client, server, prompt, 0.8) for _ in range(SAMPLED)]
        answers = [one.result() for one in asked]
    counts = [answer.get("metrics") or {} for answer in answers]
    drafts = [
        count["speculative_decoding"].get("per_step_drafted") or [] for count in counts if count
    ]
    return [answer["choices"][0]["token_ids"] for answer in answers], drafts


def greedy(server: Server, prompt: str) -> list[int]:
    with httpx2.Client(base_url=server.url, timeout=120.0) as client:
        return list(one_answer(client, server, prompt, 0.0)["choices"][0]["token_ids"])


def one_answer(
    client: httpx2.Client, server: Server, prompt: str, temperature: float
) -> dict[str, Any]:
    body = {
        "model": server.spec.model,
        "prompt": prompt,
        "max_tokens": 12,
        "temperature": temperature,
        "ignore_eos": True,
        "return_token_ids": True,
    }
    response = client.post("/v1/completions", json=body)
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer
