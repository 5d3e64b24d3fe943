"""Lines of V2's recorder over a runner on a CPU that is scripted instead of real.

They are made after the steps, as in the spool's thread, which waits for the copies.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from specviz.servers.vllm.scheduler.scheduler import ALLOWED
from specviz.servers.vllm.tracing.v2.device import Host
from specviz.servers.vllm.tracing.v2.recorder import Recorder
from specviz.servers.vllm.tracing.v2.rule import Rule

VOCABULARY = 32
KEY = "specviz-" + "a" * 32
TRACED, OTHER = f"cmpl-{KEY}-0-deadbeef", "cmpl-somebody-0-deadbeef"
BATCH = [OTHER, TRACED]


class Scripted:
    """A runner without drafts: step by step, the tokens that `sample` gives the two requests."""

    def __init__(self) -> None:
        states = SimpleNamespace(
            temperature=SimpleNamespace(np=np.zeros(2)), seeds=SimpleNamespace(np=np.arange(2))
        )
        runner = SimpleNamespace(
            vllm_config=SimpleNamespace(speculative_config=None),
            sampler=SimpleNamespace(sampling_states=states),
            vocab_size=VOCABULARY,
        )
        self.kept: list[Any] = []
        writer = SimpleNamespace(append=lambda key, line: self.kept.append(line))
        self.recorder = Recorder(runner, writer, Host(), Rule("standard"))  # type: ignore[arg-type]
        self.new = BATCH

    def step(self, *tokens: int, **said: Any) -> None:
        """`said` are attributes of the scheduler's output; without tokens, a partial prefill."""
        new, self.new = [SimpleNamespace(req_id=name) for name in self.new], []
        output = SimpleNamespace(scheduled_new_reqs=new, finished_req_ids=set(), **said)
        self.recorder.around_execute_model(lambda _: None)(output)
        batch = SimpleNamespace(req_ids=BATCH, idx_mapping_np=np.array([1, 0]))
        ids = torch.tensor([tokens, tokens]) if tokens else torch.zeros(2, 1)
        sampled = SimpleNamespace(sampled_token_ids=ids), torch.tensor([len(tokens)] * 2), None
        self.recorder.around_sample(lambda *_: sampled)(None, batch, None)

    def lines(self) -> list[Any]:
        return [line for make in self.kept if (line := make())]


def test_a_line_says_what_the_policy_allowed_in_its_own_step() -> None:
    runner = Scripted()
    for said in ({}, {ALLOWED: {TRACED: (1, "min_p")}}, {ALLOWED: {}}, {ALLOWED: {OTHER: (2, "")}}):
        runner.step(7, **said)
    allowed = [line["allowed"] for line in runner.lines()]
    assert allowed == [None, {"k": 1, "reason": "min_p"}, None, None]


def test_partial_prefills_give_no_line_and_no_step_number() -> None:
    runner = Scripted()
    runner.step()
    runner.step(6, 9)
    [line] = runner.lines()
    assert (line["step"], line["emitted"], line["drafted"]) == (0, [6, 9], [])
