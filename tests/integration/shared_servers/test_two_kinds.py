"""One benchmark over real vLLM and real llama.cpp servers of the same models: the texts are equal,
and each arm's counts are its own server's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from specviz.config import Prompt, Sampling
from specviz.methods import Method
from specviz.prompts.shipped import CATEGORIES
from specviz.servers.client.engine import open_server
from specviz.servers.launch.launcher import Launcher, ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.llama_cpp.dialect import LAUNCHER as LLAMA_CPP
from specviz.trace import Trace, fold
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET, known_prompts
from tests.support.specviz_command import specviz

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

MAX_TOKENS = 40
PROMPTS = 8
NEAR_TIE = 0.125
"""Difference of log-probabilities: bfloat16 and float32 may part there."""

Start = Callable[[ServerSpec], Server]


def specs(launcher: Launcher) -> list[ServerSpec]:
    return [
        ServerSpec(launcher, str(DEMO_TARGET)),
        ServerSpec(launcher, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT), 4),
    ]


@pytest.fixture(scope="module")
def servers(baseline_server: Server, draft_server: Server, start: Start) -> list[Server]:
    """vLLM plain and drafting, llama.cpp plain and drafting."""
    return [baseline_server, draft_server, *map(start, specs(LLAMA_CPP))]


def test_greedy_texts_are_equal_across_servers_and_transformers(servers: list[Server]) -> None:
    prompts = tuple(prompt for category in CATEGORIES for prompt in known_prompts(category)[:2])
    answers = [asyncio.run(answered(server.url, prompts)) for server in servers]
    for prompt, traces in zip(prompts, zip(*answers, strict=True), strict=True):
        text, gaps = transformers_says(prompt)
        for server, trace in zip(servers, traces, strict=True):
            assert trace.text == text or parts_at_a_near_tie(trace.text, text, gaps), (
                server.spec.launcher.name,
                prompt.prompt_id,
                trace.text,
                text,
            )


def test_every_arm_of_one_benchmark_counts_what_its_server_counts(
    servers: list[Server], tmp_path: Path
) -> None:
    arms = "".join(
        f'[[arms]]\nengine = "{server.spec.launcher.engine}"\nserver_url = "{server.url}"\n'
        for server in servers
    )
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'name = "two kinds"\nmax_tokens = {MAX_TOKENS}\n[prompts]\ncount = {PROMPTS}\n{arms}',
        encoding="utf-8",
    )
    results = specviz(tmp_path / "runs.duckdb", "bench", str(plan), timeout_s=600)["results"]
    engines = [(cell["engine"], cell["method"]) for cell in results["cells"]]
    assert engines == [
        ("vllm", "baseline"), ("vllm", "draft_model"),
        ("llama.cpp", "baseline"), ("llama.cpp", "draft_model"),
    ]  # fmt: skip
    assert len(results["checks"]) == 2  # the arms that draft
    for check in results["checks"]:
        assert check["rounds_without"] == 0
        assert check["num_drafts"] == check["server_drafts"] > 0
        assert check["num_draft_tokens"] == check["server_draft_tokens"]
        assert check["num_accepted_tokens"] == check["server_accepted_tokens"]
    for cell in results["cells"]:
        assert cell["failed"] == 0
        assert (cell["acceptance"] is None) == (cell["method"] == "baseline")


async def answered(url: str, prompts: tuple[Prompt, ...]) -> list[Trace]:
    engine = await open_server(url)
    sampling = Sampling(max_tokens=MAX_TOKENS)
    try:
        return [
            fold([event async for event in engine.generate(prompt, sampling)]) for prompt in prompts
        ]
    finally:
        await engine.close()


def transformers_says(prompt: Prompt) -> tuple[str, list[tuple[str, float]]]:
    """The text in float32, and after each token: the text so far, how sure the next one was."""
    model, tokenizer = _model()
    ids = tokenizer.apply_chat_template(
        prompt.messages, add_generation_prompt=True, return_tensors="pt", return_dict=False
    )
    out = model.generate(
        ids, max_new_tokens=MAX_TOKENS, do_sample=False,
        output_logits=True, return_dict_in_generate=True,
    )  # fmt: skip
    tokens = out.sequences[0, ids.shape[1] :]
    best = [logits[0].topk(2).values for logits in out.logits]
    gaps = [
        (tokenizer.decode(tokens[:place], skip_special_tokens=True), float(two[0] - two[1]))
        for place, two in enumerate(best)
    ]
    return tokenizer.decode(tokens, skip_special_tokens=True), gaps


def parts_at_a_near_tie(text: str, expected: str, gaps: list[tuple[str, float]]) -> bool:
    """Whether the token with the first difference was hardly better than the second best."""
    before = [gap for so_far, gap in gaps if text.startswith(so_far)]
    return bool(before) and before[-1] <= NEAR_TIE


_MODELS: list[Any] = []


def _model() -> tuple[Any, Any]:
    if not _MODELS:
        model = AutoModelForCausalLM.from_pretrained(DEMO_TARGET, dtype=torch.float32).eval()
        _MODELS.append((model, AutoTokenizer.from_pretrained(DEMO_TARGET)))
    return _MODELS[0]
