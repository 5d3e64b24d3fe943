"""The target's answers: plain decoding's, whoever shares the batch, and none lost or made twice."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from specviz.config import EngineKind, RunConfig, Sampling
from specviz.engines.embedded.opening import open_engine
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.trace import fold
from specviz.training.answers import Generation, answers, choose
from tests.support.training.targets import generation, save_target

KINDS = (
    "llama",
    "qwen2",
    "qwen3",
    pytest.param("llama3 rope", marks=pytest.mark.slow),
    pytest.param("yarn rope", marks=pytest.mark.slow),
    pytest.param("llama untied", marks=pytest.mark.slow),
    pytest.param("llama with biases", marks=pytest.mark.slow),
)
ALL = 10**9


def silent(text: str) -> None:
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_target(tmp_path_factory.mktemp("target") / "tiny")


def plain(folder: Path, work: Generation, number: int) -> list[int]:
    """What the embedded engine answers alone."""
    config = RunConfig(
        EngineKind.EMBEDDED, Method.BASELINE, model=str(folder), options={"dtype": "float32"}
    )
    engine, _ = open_engine(config)
    trace = fold(engine.events(work.prompts[number], Sampling(max_tokens=work.longest)))
    return [*trace.token_ids]


@pytest.mark.parametrize("kind", KINDS)
def test_every_greedy_row_is_plain_decoding(kind: str, tmp_path: Path) -> None:
    folder = save_target(tmp_path / "tiny", kind)
    work = generation(folder, 12, rows=6)
    found = {one.key: one for one in answers(work, tmp_path / "answers.jsonl", ALL, silent)}
    assert len(found) == 12
    greedy = [at for at in range(12) if found[f"key-{at}"].temperature == 0.0]
    assert len(greedy) == 6
    ended = 0
    for number in greedy:
        answer = found[f"key-{number}"].answer_ids
        assert answer == plain(folder, work, number)
        ended += len(answer) < work.longest
    assert kind != "llama" or ended  # rows that end early leave the batch


class Killed(BaseException):
    pass


@pytest.mark.parametrize("torn", ["", '{"key": "key-3", "temper'])
def test_a_killed_run_goes_on_to_the_same_file(folder: Path, tmp_path: Path, torn: str) -> None:
    whole, resumed = tmp_path / "whole.jsonl", tmp_path / "resumed.jsonl"
    work = generation(folder, 20)
    answers(work, whole, ALL, silent)
    seen: list[str] = []

    def kill_after_two(text: str) -> None:
        seen.append(text)
        if len(seen) == 2:
            raise Killed

    with pytest.raises(Killed):
        answers(work, resumed, ALL, kill_after_two)
    kept = resumed.read_text()
    assert kept and kept.count("\n") < 20
    resumed.write_text(kept + kept.splitlines(keepends=True)[0] + torn)  # half a batch
    found = answers(work, resumed, ALL, silent)
    assert resumed.read_bytes() == whole.read_bytes()
    assert len(found) == 20


def test_no_more_than_asked_for(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    work = generation(folder, 40)
    some = answers(work, file, 60, silent)
    tokens = sum(len(one.answer_ids) for one in some)
    assert 60 <= tokens < 60 + work.rows * work.longest
    written = file.read_bytes()
    assert answers(work, file, 60, silent) == some and file.read_bytes() == written
    more = answers(work, file, 200, silent)
    assert more[: len(some)] == some and len(more) > len(some)


def test_once_all_are_answered_nothing_is_done_again(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    work = generation(folder, 7)  # the last batch is not full
    found = answers(work, file, ALL, silent)

    def fail(text: str) -> None:
        pytest.fail(text)

    assert len(found) == 7 and answers(work, file, ALL, fail) == found


def test_a_prompt_that_leaves_no_room_is_not_asked(folder: Path, tmp_path: Path) -> None:
    work = generation(folder, 20, longest=1017)  # of 1024 positions
    found = answers(work, tmp_path / "answers.jsonl", 1, silent)
    assert found and all(len(one.prompt_ids) <= 7 for one in found)


def test_other_prompts_need_another_file(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    answers(generation(folder, 8), file, ALL, silent)
    with pytest.raises(UsageError, match="has answers to other prompts: name another folder"):
        answers(generation(folder, 5), file, 1, silent)
    file.write_text("\n" * 8)
    with pytest.raises(UsageError, match=r"answers.jsonl is damaged .*: remove it"):
        answers(generation(folder, 8), file, 1, silent)


def test_tokens_are_drawn_at_the_rows_own_temperature() -> None:
    logits = torch.tensor([[0.0, 1.0, 0.5]]).repeat(4000, 1)
    temperatures = torch.tensor([0.0, 0.7]).repeat(2000)
    chosen = choose(logits, temperatures, torch.Generator().manual_seed(1))
    assert set(chosen[::2].tolist()) == {1}
    shares = torch.bincount(chosen[1::2], minlength=3) / 2000
    torch.testing.assert_close(shares, (logits[0] / 0.7).softmax(-1), atol=0.04, rtol=0)
