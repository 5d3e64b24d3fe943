"""`specviz verify` on real servers: all holds, and what is broken on purpose fails on its line."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.config import EngineKind
from specviz.errors import ServerStartFailed
from specviz.methods import Method
from specviz.servers.kinds import default_spec
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import ServerPool
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.trace import Trace, Verdict
from specviz.verify.asking import Size, ask_speculating
from specviz.verify.checks.verdicts import verdicts
from specviz.verify.finding import Finding, Outcome, exit_code
from specviz.verify.flow import Pair, verify
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

SIZE = Size(prompts=8, max_tokens=48, batches=(1, 4), tracing_rounds=2, tracing_tokens=16)
FEW = replace(SIZE, answers=2, batches=(1,))
"""For lines that need no sampled answers."""

NOISE = 0.01
"""Relative to each weight: bfloat16 keeps half a percent."""

Start = Callable[[ServerSpec], Server]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerPool]:
    pool = ServerPool(tmp_path_factory.mktemp("logs"))
    yield pool
    pool.close()


def by_check(pool: ServerPool, baseline: Server, other: Server, size: Size) -> dict[str, Finding]:
    pair = Pair(baseline.url, other.url)
    return {one.name: one for one in verify(pair, size, pool, print)}


def all_holds(found: dict[str, Finding]) -> bool:
    """Where a request waits for a processor its times are not measured: never do they fail."""
    outcomes = {one.name: one.outcome for one in found.values()}
    timing = outcomes.pop("timing")
    return timing is not Outcome.FAILS and set(outcomes.values()) == {Outcome.HOLDS}


def speculating(model: Path = DEMO_TARGET, *flags: str) -> ServerSpec:
    return ServerSpec(
        LAUNCHER, str(model), Method.DRAFT_MODEL, str(DEMO_DRAFT), 4, extra_args=flags
    )


def test_all_of_it_holds(pool: ServerPool, baseline_server: Server, draft_server: Server) -> None:
    found = by_check(pool, baseline_server, draft_server, SIZE)
    assert all_holds(found), [one.detail for one in found.values()]
    assert found["greedy"].found["rounding_positions"] > 50
    counters = found["counters"]
    for name in ("num_draft_tokens", "emitted_tokens"):
        assert counters.found[name] == counters.expected[name] > 100
    assert found["verdicts"].found["drawn"] > 50
    assert found["runner"].found["runner"] == "v1", "the CPU build without Triton"
    assert found["verifier"].found["verifier"] == "standard"


def test_lookups_hold_too(pool: ServerPool, baseline_server: Server, ngram_server: Server) -> None:
    found = by_check(pool, baseline_server, ngram_server, FEW)
    assert found["counters"].outcome is Outcome.HOLDS, found["counters"].detail
    assert found["verdicts"].outcome is Outcome.HOLDS, found["verdicts"].detail
    assert found["greedy"].outcome is Outcome.HOLDS, found["greedy"].detail


def test_heads_hold_too(pool: ServerPool, baseline_server: Server, start: Start) -> None:
    server = start(default_spec(Method.EAGLE3, 3))
    found = by_check(pool, baseline_server, server, FEW)
    server.stop()
    for check in ("runner", "verifier", "counters", "verdicts", "greedy", "unusual tokens"):
        assert found[check].outcome is Outcome.HOLDS, found[check].detail


LLAMA_CPP = EngineKind.LLAMA_CPP


@pytest.fixture(scope="module")
def plain_llama(start: Start) -> Server:
    return start(default_spec(Method.BASELINE, None, engine=LLAMA_CPP))


@pytest.mark.parametrize("method", [Method.DRAFT_MODEL, Method.NGRAM])
def test_llama_cpp_holds_on_every_line_that_it_reports(
    pool: ServerPool, plain_llama: Server, start: Start, method: Method
) -> None:
    server = start(default_spec(method, 4, engine=LLAMA_CPP))
    found = by_check(pool, plain_llama, server, SIZE)
    server.stop()
    assert exit_code(found.values()) == 0, [one.detail for one in found.values()]
    for check in ("identity", "runner", "counters", "greedy", "unusual tokens", "sampling"):
        assert found[check].outcome is Outcome.HOLDS, found[check].detail


def test_synthetic_acceptance_is_not_lossless(
    pool: ServerPool, plain_llama: Server, start: Start
) -> None:
    """On llama.cpp: vLLM's V1 model runner dies of its synthetic acceptance. The demo draft knows
    the held-out prompts as well as its target does, so the unusual ones show it."""
    forced = replace(
        default_spec(Method.DRAFT_MODEL, 4, engine=LLAMA_CPP),
        extra_args=("--spec-synth-len", "3.5"),
    )
    server = start(forced)
    found = by_check(pool, plain_llama, server, FEW)
    server.stop()
    for check in ("verifier", "unusual tokens"):
        assert found[check].outcome is Outcome.FAILS, found[check].detail
    # it counts what it accepts; a forced draft may break a character, and such an answer has none
    assert found["counters"].outcome is not Outcome.FAILS, found["counters"].detail
    assert exit_code(found.values()) == 1


def test_one_wrong_verdict_of_a_real_trace_is_found(draft_server: Server) -> None:
    found = asyncio.run(ask_speculating(draft_server.url, None, FEW, print))
    assert verdicts(found).outcome is Outcome.HOLDS, verdicts(found).detail
    traces = list(found.traces)
    place = next(
        number
        for number, trace in enumerate(traces)
        if any(token.u is not None for step in trace.steps for token in step.drafted)
    )
    traces[place] = with_one_wrong_verdict(traces[place])
    spoilt = verdicts(replace(found, traces=tuple(traces)))
    assert spoilt.outcome is Outcome.FAILS
    assert spoilt.found["contradictions"] == 1, spoilt.detail


def with_one_wrong_verdict(trace: Trace) -> Trace:
    """The last token of a draft that was accepted with a random number was not."""
    for number, step in enumerate(trace.steps):
        last = step.drafted[-1] if step.drafted else None
        if last and last.u is not None and last.verdict is Verdict.ACCEPTED and last.u < 0.9:
            wrong = (*step.drafted[:-1], replace(last, verdict=Verdict.REJECTED))
            steps = list(trace.steps)
            steps[number] = replace(step, drafted=wrong)
            return replace(trace, steps=tuple(steps))
    raise AssertionError("no draft was accepted whole")


def test_wrong_sampling_of_the_stock_cpu_build_is_noticed(
    pool: ServerPool, baseline_server: Server, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_NO_FIXES", "1")
    server = start(speculating())
    found = by_check(pool, baseline_server, server, SIZE)
    server.stop()
    assert found["sampling"].outcome is Outcome.FAILS, found["sampling"].detail
    assert found["greedy"].outcome is Outcome.HOLDS


def test_another_model_as_baseline_is_noticed(
    pool: ServerPool, draft_server: Server, start: Start
) -> None:
    small = start(ServerSpec(LAUNCHER, str(DEMO_DRAFT)))
    found = by_check(pool, small, draft_server, FEW)
    small.stop()
    assert found["greedy"].outcome is Outcome.FAILS, found["greedy"].detail


def test_a_model_of_slightly_other_weights_is_noticed(
    pool: ServerPool, draft_server: Server, start: Start, tmp_path: Path
) -> None:
    """As after a few more steps of training."""
    model = tmp_path / "demo-target"
    shutil.copytree(DEMO_TARGET, model)
    weights = load_file(model / "model.safetensors")
    noise = torch.Generator().manual_seed(0)
    for name, weight in weights.items():
        if weight.ndim == 2:
            weights[name] = weight * (1 + NOISE * torch.randn(weight.shape, generator=noise))
    save_file({name: weight.bfloat16() for name, weight in weights.items()},
              model / "model.safetensors", metadata={"format": "pt"})  # fmt: skip
    other = start(ServerSpec(LAUNCHER, str(model)))
    found = by_check(pool, other, draft_server, FEW)
    other.stop()
    assert found["greedy"].outcome is Outcome.FAILS, found["greedy"].detail


def test_a_swapped_tokenizer_is_noticed(
    pool: ServerPool, baseline_server: Server, start: Start, tmp_path: Path
) -> None:
    """The same weights, but two common words of the vocabulary have changed places. With a draft
    the server does not even start."""
    model = tmp_path / "demo-target"
    shutil.copytree(DEMO_TARGET, model)
    file = model / "tokenizer.json"
    tokenizer = json.loads(file.read_text(encoding="utf-8"))
    words = tokenizer["model"]["vocab"]
    words["Ġthe"], words["Ġa"] = words["Ġa"], words["Ġthe"]
    file.write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(ServerStartFailed, match="The tokenizers differ"):
        start(speculating(model))
    server = start(ServerSpec(LAUNCHER, str(model), Method.NGRAM, k=4))
    found = by_check(pool, baseline_server, server, FEW)
    server.stop()
    assert found["greedy"].outcome is Outcome.FAILS, found["greedy"].detail


def test_counters_that_are_off_are_not_measured(
    pool: ServerPool, baseline_server: Server, start: Start
) -> None:
    server = start(speculating(DEMO_TARGET, "--disable-log-stats"))
    found = by_check(pool, baseline_server, server, FEW)
    server.stop()
    assert found["counters"].outcome is Outcome.NOT_MEASURED
    assert exit_code(found.values()) == 2
