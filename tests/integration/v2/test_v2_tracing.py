"""The recorder inside a real vLLM server with the V2 model runner, on a CPU.

Slow, because Triton's interpreter runs its kernels, a few tokens a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from specviz.methods import Method
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET, MODELS
from tests.support.servers.vllm_servers import CODE_PROMPT, running
from tests.support.specviz_command import specviz
from tests.support.v2.on_cpu import v2_variables

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(1200)]

TOKENS = 8
CLOSE = 1e-5
"""Of u to the acceptance probability: closer than float32 can tell."""

GREEDY, SAMPLED = {"temperature": 0.0}, {"temperature": 0.8, "seed": 11}
SHORT = [9, 10]  # vLLM pads one token with a draft that nobody made, and counts it
LONG_PROMPT = [50, 51, 52, 53] * 50  # more than a step takes
FLAGS = (
    *("--max-model-len", "512", "--max-num-seqs", "4", "--max-num-batched-tokens", "128"),
    *("--enable-prefix-caching", "--enable-chunked-prefill"),
)
METHODS = {
    "draft_model": (Method.DRAFT_MODEL, str(DEMO_DRAFT), 4),
    "eagle3": (Method.EAGLE3, str(MODELS / "demo-eagle3"), 3),
    "ngram": (Method.NGRAM, None, 3),
}


@pytest.fixture(scope="module", params=METHODS)
def v2_server(request: pytest.FixtureRequest, log_dir: Path) -> Iterator[Server]:
    """Traced, scheduled as on a GPU, with chunked prefill and prefix caching."""
    spec = ServerSpec(LAUNCHER, str(DEMO_TARGET), *METHODS[request.param], extra_args=FLAGS)
    with v2_variables(asynchronous=is_asynchronous(spec)), running(spec, log_dir) as server:
        yield server


def is_asynchronous(spec: ServerSpec) -> bool:
    """vLLM refuses its asynchronous scheduler with `ngram`, on a GPU too."""
    return spec.method is not Method.NGRAM


def test_a_v2_server_says_that_it_is_traced(v2_server: Server) -> None:
    handshake = httpx2.get(f"{v2_server.url}/specviz/handshake").json()
    assert (handshake["runner"], handshake["tracing"], handshake["reason"]) == ("v2", True, None)
    assert handshake["rejection_sample_method"] == "standard" and handshake["fixes"] == []
    log = v2_server.log_path.read_text()
    assert "Using V2 Model Runner" in log
    assert ("asynchronous scheduling stays on" in log) == is_asynchronous(v2_server.spec)


def test_requests_together_are_traced_as_they_were_counted(
    v2_server: Server,
    ask: Callable[..., Any],
    spec_counters: Callable[[Server], dict[str, float]],
) -> None:
    asked = [(CODE_PROMPT, GREEDY), (LONG_PROMPT, SAMPLED), (LONG_PROMPT, GREEDY), (SHORT, SAMPLED)]
    before = spec_counters(v2_server)
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(lambda one: ask(v2_server, one[0], max_tokens=TOKENS, **one[1]), asked)
        )
    after = spec_counters(v2_server)
    for answer in answers:
        assert answer.traced_ids[:TOKENS] == answer.token_ids
        assert answer.lines[0]["drafted"] == []
        assert [line["step"] for line in answer.lines] == list(range(len(answer.lines)))
    lines = [line for answer in answers for line in answer.lines if line["drafted"]]
    assert {name: after[name] - before[name] for name in after} == {
        "drafts": len(lines),
        "draft_tokens": sum(len(line["drafted"]) for line in lines),
        "accepted_tokens": sum(line["num_accepted"] for line in lines),
    }
    for line in lines:
        assert_verdicts_follow(line)
        assert line["draft_ms"] > 0 and line["verify_ms"] > 0 and line["wall_ms"] > 0


def assert_verdicts_follow(line: dict[str, Any]) -> None:
    """From u above temperature 0, where nothing is drawn from the target's first choice."""
    accepted = line["num_accepted"]
    for at in range(min(accepted + 1, len(line["drafted"]))):
        u, probability = line["u"][at], line["accept_probs"][at]
        if u is None:
            assert (line["top"][at][0][0] == line["drafted"][at]) == (at < accepted)
        elif abs(u - probability) > CLOSE:
            assert (u <= probability) == (at < accepted)


def test_greedy_tokens_are_those_of_v1(
    v2_server: Server, baseline_server: Server, ask: Callable[..., Any]
) -> None:
    body = {"max_tokens": TOKENS, "traced": False}
    assert ask(v2_server, **body).token_ids == ask(baseline_server, **body).token_ids


def test_run_shows_and_stores_every_decision(v2_server: Server, tmp_path: Path) -> None:
    db = tmp_path / "runs.duckdb"
    asked = ["run", "--engine", "vllm", "--server", v2_server.url, "--max-tokens", str(TOKENS)]
    asked += ["--prompt", "What is 17 plus 25?", "--temperature", "0.8", "--seed", "5"]
    run = specviz(db, *asked, timeout_s=600)
    assert run["fidelity"] == "traced" and len(run["token_ids"]) == TOKENS
    drafted = [token for step in run["steps"] for token in step["drafted"]]
    assert len(drafted) == run["metrics"]["num_draft_tokens"] > 0
    query = "SELECT count(*), count(u) FROM decisions"
    [[count, drawn]] = specviz(db, "query", query, timeout_s=120)["rows"]
    assert count == len(drafted) and 0 < drawn <= count
