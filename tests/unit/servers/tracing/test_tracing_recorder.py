"""The recorder around a model runner that is scripted instead of real."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from specviz.servers.vllm.scheduler.scheduler import ALLOWED
from specviz.servers.vllm.tracing.recorder import Recorder

VOCABULARY = 32
KEY = "specviz-" + "a" * 32
TRACED, OTHER = f"cmpl-{KEY}-0-deadbeef", "cmpl-somebody-0-deadbeef"


class Writer:
    """Keeps the lines instead of spooling them."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.finished: list[str] = []

    def append(self, key: str, line: Callable[[], dict[str, Any]]) -> None:
        assert key == KEY
        self.lines.append(line())

    def finish(self, key: str) -> None:
        self.finished.append(key)


class Scripted:
    """A runner whose batch, drafts and outputs the test sets."""

    def __init__(self, req_ids: list[str], *, method: str = "draft_model") -> None:
        self.speculative_config = SimpleNamespace(method=method)
        self.device = torch.device("cpu")
        self.input_batch = SimpleNamespace(
            req_ids=req_ids, greedy_reqs=set(req_ids), vocab_size=VOCABULARY
        )
        self.discard_request_mask = SimpleNamespace(np=np.zeros(len(req_ids), dtype=bool))
        self.logits = torch.randn(len(req_ids), VOCABULARY)
        self.drafter = SimpleNamespace(model=SimpleNamespace(compute_logits=lambda _: self.logits))
        self.writer = Writer()
        self.recorder = Recorder(self, self.writer)  # type: ignore[arg-type]

    def sample(self, counts: list[int], drafted: list[int], sampled: list[list[int]]) -> None:
        """One verification: `counts` drafted tokens per request, `sampled` rows come out."""
        logits = torch.randn(len(drafted), VOCABULARY)

        def original() -> Any:
            if counts:
                ids = torch.tensor(drafted, dtype=torch.int32)
                self.recorder.see_rejection_sample(None, ids, counts, 2, None, None, logits)
            return SimpleNamespace(sampled_token_ids=torch.tensor(sampled))

        self.recorder.around_sample(original)()

    def propose(self, drafted: list[list[int]]) -> None:
        def original() -> torch.Tensor:
            for _ in drafted[0]:
                self.drafter.model.compute_logits(None)
            return torch.tensor(drafted)

        self.recorder.around_propose(original)()

    def begin(self, finished: list[str], **said: Any) -> None:
        output = SimpleNamespace(finished_req_ids=finished, **said)
        self.recorder.around_execute_model(lambda _: None)(output)


def test_a_batch_of_others_is_left_alone() -> None:
    runner = Scripted([OTHER])
    runner.sample([2], [1, 2], [[1, 2, 3]])
    runner.propose([[1, 2]])
    assert runner.writer.lines == []


def test_only_the_traced_row_is_written() -> None:
    runner = Scripted([OTHER, TRACED])
    runner.sample([2, 2], [1, 2, 3, 4], [[1, 9, -1], [3, 4, 5]])
    (line,) = runner.writer.lines
    assert line["drafted"] == [3, 4] and line["emitted"] == [3, 4, 5]


def test_partial_prefills_give_no_line_and_no_step_number() -> None:
    runner = Scripted([TRACED])
    runner.discard_request_mask.np[0] = True
    runner.sample([], [], [[5]])
    runner.discard_request_mask.np[0] = False
    runner.sample([], [], [[6]])
    (line,) = runner.writer.lines
    assert line["step"] == 0 and line["emitted"] == [6] and line["drafted"] == []


def test_the_draft_of_one_step_is_recorded_with_the_next() -> None:
    runner = Scripted([OTHER, TRACED])
    runner.sample([], [], [[5], [6]])
    runner.propose([[1, 2], [3, 4]])
    runner.sample([2, 2], [1, 2, 3, 4], [[1, 9, -1], [3, 4, 5]])
    line = runner.writer.lines[1]
    probs = runner.logits[1].softmax(-1)
    assert line["draft_probs"] == [probs[3].item(), probs[4].item()]
    assert line["draft_ms"] is not None and line["wall_ms"] is not None


def test_a_draft_cut_short_keeps_the_probabilities_of_what_is_left() -> None:
    runner = Scripted([TRACED])
    runner.propose([[3, 4]])
    runner.sample([1], [3], [[3, 7]])
    (line,) = runner.writer.lines
    assert line["draft_probs"] == [runner.logits[0].softmax(-1)[3].item()]


def test_probabilities_of_another_draft_are_not_used() -> None:
    runner = Scripted([TRACED])
    runner.propose([[3, 4]])
    runner.sample([2], [8, 9], [[7, -1, -1]])
    assert runner.writer.lines[0]["draft_probs"] == [None, None]


def test_a_line_says_what_the_policy_allowed_in_its_step() -> None:
    runner = Scripted([TRACED])
    for said in ({}, {ALLOWED: {TRACED: (1, "min_p")}}, {ALLOWED: {}}):
        runner.begin([], **said)
        runner.sample([1], [3], [[3, 7]])
    allowed = [line["allowed"] for line in runner.writer.lines]
    assert allowed == [None, {"k": 1, "reason": "min_p"}, None]


def test_lookups_are_certain() -> None:
    runner = Scripted([TRACED], method="ngram")
    runner.sample([2], [8, 9], [[8, 9, 1]])
    assert runner.writer.lines[0]["draft_probs"] == [1.0, 1.0]


def test_the_drafter_is_watched_only_while_it_drafts() -> None:
    runner = Scripted([TRACED])
    before = runner.drafter.model.compute_logits
    runner.propose([[3, 4]])
    assert runner.drafter.model.compute_logits is before


def test_a_finished_request_is_forgotten_and_its_file_closed() -> None:
    runner = Scripted([TRACED])
    runner.sample([], [], [[5]])
    runner.begin([TRACED, OTHER])
    runner.sample([], [], [[6]])
    assert runner.writer.finished == [KEY]
    assert [line["step"] for line in runner.writer.lines] == [0, 0]


def test_a_failure_of_the_tracer_is_recorded_and_does_not_reach_the_engine() -> None:
    runner = Scripted([TRACED])
    runner.sample([2], [1], [[1, 2, 3]])  # counts and ids contradict each other
    (line,) = runner.writer.lines
    assert set(line) == {"error"}
