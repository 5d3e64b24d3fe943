"""A real llama.cpp server over the demo family: its steps, counters and ids, and its end."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from specviz.config import EngineKind, Prompt, Sampling
from specviz.errors import ServerStartFailed, StreamBroken
from specviz.methods import Method
from specviz.prompts.shipped import CATEGORIES
from specviz.sample import Sample
from specviz.servers.client.engine import ServerEngine, open_server
from specviz.servers.kinds import default_spec
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server, start_server
from specviz.servers.llama_cpp.dialect import LAUNCHER, LLAMA_CPP
from specviz.servers.metrics import SpecCounters
from specviz.servers.timing.timed_server import open_timed_server
from specviz.trace import Event, Fidelity, Step, Trace, fold
from tests.support.demo_models import DEMO_TARGET, known_prompts
from tests.support.servers.endless_model import write_endless

pytestmark = pytest.mark.integration

K = 4
PROMPTS = [prompt for category in CATEGORIES for prompt in known_prompts(category)[:1]]
SAMPLING = Sampling(max_tokens=32)
ENGINE = EngineKind.LLAMA_CPP
NEAR_TIE = 0.01
"""Of two logits: what float32 rounds differently in another order of additions, and more."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Method], Server]]:
    """One server per method, started when a test first asks for it."""
    servers: dict[Method, Server] = {}

    def start(method: Method) -> Server:
        if method not in servers:
            spec = default_spec(method, None if method is Method.BASELINE else K, engine=ENGINE)
            servers[method] = launch(spec, tmp_path_factory.mktemp("logs"))
        return servers[method]

    yield start
    for server in servers.values():
        server.stop()


def launch(spec: ServerSpec, log_dir: Path) -> Server:
    return start_server(spec, log_dir=log_dir, on_progress=lambda _: None, timeout_s=60)


@asynccontextmanager
async def opened(server: Server) -> AsyncIterator[ServerEngine]:
    engine = await open_server(server.url)
    try:
        yield engine
    finally:
        await engine.close()


async def answer(engine: ServerEngine, prompt: Prompt) -> Trace:
    return fold([event async for event in engine.generate(prompt, SAMPLING)])


async def sample_all(server: Server, at_once: int) -> tuple[list[Sample], SpecCounters | None]:
    """Samples of all prompts, and what the server's counters grew by."""
    timed = await open_timed_server(server.url)
    limit = asyncio.Semaphore(at_once)

    async def one(prompt: Prompt) -> Sample:
        async with limit:
            return await timed.sample(prompt, SAMPLING)

    before = await timed.counters()
    samples = await asyncio.gather(*map(one, PROMPTS))
    after = await timed.counters()
    await timed.close()
    return samples, after - before if before and after else None


def added_up(samples: Sequence[Sample]) -> SpecCounters:
    accepted = [count for sample in samples for count in sample.per_step_accepted or ()]
    drafted = [count for sample in samples for count in sample.per_step_drafted or ()]
    per_pos = tuple(sum(count > position for count in accepted) for position in range(K))
    return SpecCounters(len(drafted), sum(drafted), sum(accepted), per_pos)


async def test_it_is_recognised_with_what_it_drafts(started: Callable[[Method], Server]) -> None:
    for method in (Method.BASELINE, Method.DRAFT_MODEL, Method.NGRAM):
        async with opened(started(method)) as engine:
            assert engine.server.dialect is LLAMA_CPP
            assert engine.server.software and engine.server.software.startswith("llama.cpp b")
            assert (engine.method, engine.k) == (method, None if method is Method.BASELINE else K)
            assert engine.model == str(DEMO_TARGET)


@pytest.mark.parametrize("method", [Method.DRAFT_MODEL, Method.NGRAM])
@pytest.mark.parametrize("at_once", [pytest.param(1, marks=pytest.mark.slow), 4])
async def test_counts_of_the_requests_add_up_to_the_servers(
    started: Callable[[Method], Server], method: Method, at_once: int
) -> None:
    samples, grown = await sample_all(started(method), at_once)
    assert {sample.fidelity for sample in samples} == {Fidelity.COUNTED}
    assert added_up(samples) == grown
    for sample in samples:
        drafting = len(sample.per_step_drafted or ())
        assert drafting + sum(sample.per_step_accepted or ()) <= (sample.output_tokens or 0)


async def test_steps_come_while_the_answer_streams_and_add_up_to_its_timings(
    started: Callable[[Method], Server],
) -> None:
    server = started(Method.DRAFT_MODEL)
    async with opened(server) as engine:
        for prompt in PROMPTS[::2]:
            events: list[Event] = [e async for e in engine.generate(prompt, SAMPLING)]
            steps = [event for event in events if isinstance(event, Step)]
            timings = plain_answer(server, prompt)["timings"]
            assert fold(events).fidelity is Fidelity.COUNTED
            assert fold(events).steps == tuple(steps), "no step was corrected afterwards"
            assert sum(len(step.drafted) for step in steps) == timings["draft_n"]
            assert sum(step.num_accepted for step in steps) == timings["draft_n_accepted"]
            assert sum(len(step.emitted) for step in steps) == timings["predicted_n"]


async def test_the_timing_client_has_the_live_clients_answers(
    started: Callable[[Method], Server],
) -> None:
    samples, _ = await sample_all(started(Method.BASELINE), 4)
    async with opened(started(Method.BASELINE)) as engine:
        for prompt, sample in [*zip(PROMPTS, samples, strict=True)][::2]:
            trace = await answer(engine, prompt)
            assert (sample.text, sample.output_tokens) == (trace.text, len(trace.emitted))
            assert sample.per_step_drafted == ()


async def test_greedy_ids_are_those_of_transformers(started: Callable[[Method], Server]) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    from specviz.engines.embedded.tokenizer import ChatTokenizer

    model = AutoModelForCausalLM.from_pretrained(DEMO_TARGET, dtype=torch.float32)
    tokenizer = ChatTokenizer(DEMO_TARGET)
    equal = 0
    for method in (Method.BASELINE, Method.DRAFT_MODEL, Method.NGRAM):
        for prompt in PROMPTS:
            prompt_ids, ids = ids_of(started(method), prompt)
            assert prompt_ids == tokenizer.encode_chat(prompt.messages)
            with torch.inference_mode():
                logits = model(torch.tensor([prompt_ids + ids])).logits[0]
            chosen = logits[len(prompt_ids) - 1 : -1]
            best = chosen.argmax(dim=-1)
            differing = (best != torch.tensor(ids)).nonzero().flatten().tolist()
            for at in differing:
                assert chosen[at, best[at]] - chosen[at, ids[at]] < NEAR_TIE
            equal += not differing
    assert equal >= 3 * len(PROMPTS) - 2, "near ties are rare"


async def test_a_server_killed_in_its_answer_leaves_what_arrived(tmp_path: Path) -> None:
    endless = write_endless(tmp_path / "endless")
    server = launch(ServerSpec(LAUNCHER, str(endless), Method.NGRAM, k=K), tmp_path)
    steps: list[Step] = []
    try:
        async with opened(server) as engine:
            long = Sampling(max_tokens=3500)
            with pytest.raises(StreamBroken, match="the server has probably exited"):
                async for event in engine.generate(Prompt("Tell a story."), long):
                    if isinstance(event, Step):
                        steps.append(event)
                    if len(steps) == 3:
                        psutil.Process(server.pid).children()[0].kill()
    finally:
        server.stop()
    assert len(steps) >= 3


def test_the_key_of_its_environment_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_API_KEY", "secret")
    server = launch(default_spec(Method.BASELINE, None, engine=ENGINE), tmp_path)
    try:
        with httpx2.Client() as http:
            assert http.get(f"{server.url}/slots").status_code == 401
            headers = {"Authorization": "Bearer secret"}
            assert http.get(f"{server.url}/slots", headers=headers).status_code == 200
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("model.safetensors", r"has no \*\.safetensors file"),
        pytest.param("config.json", "not a model folder", marks=pytest.mark.slow),
    ],
)
def test_a_folder_that_is_no_model_is_refused_in_a_sentence(
    tmp_path: Path, missing: str, reason: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(DEMO_TARGET, folder)
    (folder / missing).unlink()
    with pytest.raises(ServerStartFailed, match=f"llama.cpp did not start: .*{reason}"):
        launch(ServerSpec(LAUNCHER, str(folder)), tmp_path)


def test_a_broken_file_fails_in_llama_cpps_words(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ServerStartFailed, match=r"llama\.cpp did not start: .*(GGUF|gguf)"):
        launch(ServerSpec(LAUNCHER, str(file)), tmp_path)


def plain_answer(server: Server, prompt: Prompt) -> Any:
    body = {"messages": prompt.messages, "temperature": 0, "max_tokens": SAMPLING.max_tokens}
    found = httpx2.post(f"{server.url}/v1/chat/completions", json=body, timeout=60.0)
    return found.raise_for_status().json()


def ids_of(server: Server, prompt: Prompt) -> tuple[list[int], list[int]]:
    """Token ids of prompt and greedy answer, which llama.cpp has on its own routes only."""
    with httpx2.Client(base_url=server.url, timeout=60.0) as http:
        text = http.post("/apply-template", json={"messages": prompt.messages}).json()["prompt"]
        asked = {"content": text, "parse_special": True}
        prompt_ids = http.post("/tokenize", json=asked).json()["tokens"]
        body = {"prompt": text, "n_predict": SAMPLING.max_tokens, "temperature": 0}
        found = http.post("/completion", json={**body, "return_tokens": True}).json()
    return prompt_ids, found["tokens"]


async def test_a_top_k_of_one_draws_what_greedy_takes(started: Callable[[Method], Server]) -> None:
    """A sampled answer could only be the greedy one by the top-k that was asked for."""
    hot = replace(SAMPLING, temperature=2.0, seed=1)
    async with opened(started(Method.BASELINE)) as engine:
        greedy, one, all_of_it = [
            fold([event async for event in engine.generate(PROMPTS[0], sampling)])
            for sampling in (SAMPLING, replace(hot, top_k=1), hot)
        ]
    assert one.text == greedy.text
    assert all_of_it.text != greedy.text
