"""The tracing plugin inside a real vLLM server."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from specviz.servers.launch.server import Server
from specviz.servers.vllm.tracing.spool import FOLDER_PREFIX
from tests.support.servers.vllm_servers import Answer, Ask

pytestmark = pytest.mark.integration

K = 4
SAMPLED = {"temperature": 0.8, "seed": 11}
LOOKUP = {"prompt": [40, 41, 42] * 4, "allowed_token_ids": [40, 41, 42]}

Line = dict[str, Any]


@pytest.fixture(scope="module")
def greedy(draft_server: Server, ask: Ask) -> Answer:
    """An answer that tests only look at."""
    return ask(draft_server)


@pytest.fixture(scope="module")
def sampled(draft_server: Server, ask: Ask) -> Answer:
    return ask(draft_server, **SAMPLED)


def judged(line: Line) -> int:
    return min(line["num_accepted"] + 1, len(line["drafted"]))


def verdicts(line: Line) -> Iterator[tuple[bool, float, float | None]]:
    """Of every judged token: was it accepted, accept_prob, u."""
    for index in range(judged(line)):
        yield index < line["num_accepted"], line["accept_probs"][index], line["u"][index]


def spools(server: Server) -> list[Path]:
    folders = Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*")
    return [path for folder in folders for path in folder.glob("*.jsonl")]


def test_handshake_tells_what_the_server_runs(draft_server: Server) -> None:
    handshake = httpx2.get(f"{draft_server.url}/specviz/handshake").json()
    assert handshake["tracing"] is True and handshake["reason"] is None
    assert handshake["method"] == "draft_model"
    assert handshake["num_speculative_tokens"] == K
    assert handshake["model"] == draft_server.spec.model
    assert handshake["draft_model"] == draft_server.spec.draft
    assert handshake["draft_sample_method"] == "probabilistic"
    assert handshake["runner"] == "v1"


@pytest.mark.slow
def test_stock_server_has_no_handshake(stock_server: Server) -> None:
    assert httpx2.get(f"{stock_server.url}/specviz/handshake").status_code == 404


def test_traced_ids_equal_streamed_ids(greedy: Answer, sampled: Answer) -> None:
    for answer in (greedy, sampled):
        assert answer.traced_ids[: len(answer.token_ids)] == answer.token_ids
        assert len(answer.token_ids) == 40
        assert [line["step"] for line in answer.lines] == list(range(len(answer.lines)))


@pytest.mark.parametrize("sampling", [{"temperature": 0.0}, SAMPLED], ids=["greedy", "sampled"])
def test_trace_agrees_with_the_servers_own_counters(
    draft_server: Server,
    ask: Ask,
    spec_counters: Callable[[Server], dict[str, float]],
    sampling: dict[str, Any],
) -> None:
    before = spec_counters(draft_server)
    lines = ask(draft_server, **sampling).lines
    after = spec_counters(draft_server)
    drafting = [line for line in lines if line["drafted"]]
    rejected = [len(line["drafted"]) > line["num_accepted"] for line in drafting]
    unverified = [len(line["drafted"]) - judged(line) for line in drafting]
    accepted = sum(line["num_accepted"] for line in drafting)
    num_drafted = sum(len(line["drafted"]) for line in drafting)
    assert num_drafted == accepted + sum(rejected) + sum(unverified)
    assert {name: after[name] - before[name] for name in after} == {
        "drafts": len(drafting),
        "draft_tokens": num_drafted,
        "accepted_tokens": accepted,
    }


def test_emitted_tokens_are_the_accepted_drafts_and_one_more(sampled: Answer) -> None:
    for line in sampled.lines:
        accepted = line["num_accepted"]
        assert line["emitted"][:accepted] == line["drafted"][:accepted]
        assert len(line["emitted"]) == accepted + 1


def test_accept_prob_and_u_reproduce_every_verdict(draft_server: Server, ask: Ask) -> None:
    seen = []
    for seed in range(3):
        for line in ask(draft_server, temperature=0.9, top_p=0.95, seed=seed).lines:
            for accepted, accept_prob, u in verdicts(line):
                assert u is not None
                assert accepted == (u <= accept_prob)
                seen.append(accepted)
            for target, draft, accept in zip(
                line["target_probs"], line["draft_probs"], line["accept_probs"], strict=True
            ):
                assert accept == pytest.approx(min(1.0, target / draft), rel=1e-6)
    assert True in seen and False in seen


def test_temperature_zero_accepts_exactly_the_targets_first_choice(greedy: Answer) -> None:
    for line in greedy.lines:
        for index, (accepted, accept_prob, u) in enumerate(verdicts(line)):
            assert u is None
            assert accept_prob == float(accepted)
            best_id, best_prob = line["top"][index][0]
            assert accepted == (line["drafted"][index] == best_id)
            assert line["target_probs"][index] <= best_prob + 1e-6
            assert 0.0 < line["draft_probs"][index] <= 1.0


def test_top_tokens_are_given_for_judged_tokens_in_order(sampled: Answer) -> None:
    for line in sampled.lines:
        assert len(line["top"]) == judged(line)
        for top in line["top"]:
            probs = [prob for _, prob in top]
            assert len(top) == 5 and probs == sorted(probs, reverse=True)


def test_requests_traced_together_do_not_mix(draft_server: Server, ask: Ask) -> None:
    samplings = [{"temperature": 0.0}, {"temperature": 0.7, "top_p": 0.9}, {"temperature": 1.0}]

    def ask_one(index: int) -> Any:
        prompt, sampling = [20 + index, 30, 40], samplings[index % 3]
        return ask(draft_server, prompt, traced=index % 4 != 3, **sampling)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask_one, range(8)))
    for index, answer in enumerate(answers):
        if index % 4 == 3:
            assert answer.lines == []
            continue
        assert answer.traced_ids[:40] == answer.token_ids
        for line in answer.lines:
            for accepted, accept_prob, u in verdicts(line):
                assert accepted == (accept_prob == 1.0 if u is None else u <= accept_prob)


@pytest.mark.slow
def test_penalties_and_top_k_are_traced_as_the_sampler_sees_them(
    draft_server: Server, ask: Ask
) -> None:
    answer = ask(draft_server, temperature=0.9, top_k=20, repetition_penalty=1.3, logprobs=2)
    assert answer.traced_ids[:40] == answer.token_ids
    for line in answer.lines:
        for accepted, accept_prob, u in verdicts(line):
            assert accepted == (u is not None and u <= accept_prob)


@pytest.mark.slow
def test_long_prompt_in_chunks_gives_no_line_before_its_first_token(
    draft_server: Server, ask: Ask
) -> None:
    prompts = [[50 + index] * 1500 for index in range(3)]  # more than one step can take
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda prompt: ask(draft_server, prompt), prompts))
    for answer in answers:
        assert answer.lines[0]["drafted"] == []
        assert answer.traced_ids[:40] == answer.token_ids


def test_a_seed_repeats_a_sampled_run(draft_server: Server, ask: Ask, sampled: Answer) -> None:
    first, second = sampled, ask(draft_server, **SAMPLED)
    assert first.token_ids == second.token_ids
    assert [line["drafted"] for line in first.lines] == [line["drafted"] for line in second.lines]


@pytest.mark.slow
def test_seeded_prompts_read_in_chunks_do_not_end_the_engine(
    draft_server: Server, ask: Ask
) -> None:
    prompts = [[60 + index] * 1500 for index in range(3)]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda prompt: ask(draft_server, prompt, **SAMPLED), prompts))
    assert all(answer.traced_ids[:40] == answer.token_ids for answer in answers)


def test_an_untraced_request_leaves_no_spool(draft_server: Server, ask: Ask) -> None:
    before = spools(draft_server)
    ask(draft_server, traced=False)
    assert len(spools(draft_server)) <= len(before)


@pytest.mark.slow
def test_baseline_emits_one_target_token_per_step(baseline_server: Server, ask: Ask) -> None:
    answer = ask(baseline_server)
    assert answer.traced_ids == answer.token_ids
    assert all(line["drafted"] == [] and len(line["emitted"]) == 1 for line in answer.lines)


@pytest.mark.slow
def test_ngram_lookups_count_as_certain(ngram_server: Server, ask: Ask) -> None:
    for sampling in ({"temperature": 0.0}, SAMPLED):
        answer = ask(ngram_server, **LOOKUP, **sampling)
        assert answer.traced_ids[:40] == answer.token_ids
        assert any(line["drafted"] for line in answer.lines)
        for line in answer.lines:
            assert set(line["draft_probs"]) <= {1.0}
            for accepted, accept_prob, u in verdicts(line):
                assert accepted == (accept_prob == 1.0 if u is None else u <= accept_prob)


def test_times_are_plausible(greedy: Answer) -> None:
    first, *rest = greedy.lines
    assert first["wall_ms"] is None and first["draft_ms"] is None
    for line in rest:
        assert line["draft_ms"] > 0 and line["verify_ms"] > 0
        assert line["verify_ms"] < line["wall_ms"]


def test_trace_can_be_read_again_from_a_line(draft_server: Server, ask: Ask) -> None:
    answer = ask(draft_server)
    path = max(spools(draft_server), key=lambda path: path.stat().st_mtime)
    url = f"{draft_server.url}/specviz/trace/{path.stem}?from=3"
    with httpx2.stream("GET", url) as response:
        assert response.headers["content-type"].startswith("application/x-ndjson")
        line = next(text for text in response.iter_lines() if text)
    assert f'"step":{answer.lines[3]["step"]},' in line


@pytest.mark.parametrize("key", ["specviz-x", "..%2f..%2fetc%2fpasswd", "specviz-" + "0" * 31])
def test_a_malformed_key_is_not_a_path(draft_server: Server, key: str) -> None:
    assert httpx2.get(f"{draft_server.url}/specviz/trace/{key}").status_code == 404
