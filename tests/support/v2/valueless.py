"""A device whose tensors have no values: whatever would wait for one raises.

torch's `meta` tensors have shapes only, so `item`, `tolist`, `cpu`, a branch on a value, an index
by a mask fail where on a GPU they would stop the step. The one way out is `Valueless.copy`, which
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from specviz.servers.vllm.tracing.v2.device import Mark
from specviz.servers.vllm.tracing.v2.recorder import Recorder
from specviz.servers.vllm.tracing.v2.rule import Rule

K, VOCABULARY, STATES = 4, 50_000, 8
KEYS = [f"specviz-{row:032x}" for row in range(STATES)]


def meta(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")


@dataclass
class Valueless:
    """In place of `device.Gpu`."""

    bytes_copied: int = 0
    marks: int = 0
    calls: list[str] = field(default_factory=list)

    def index(self, rows: Sequence[int]) -> Any:
        self.calls.append("index")
        return torch.tensor(rows).to("meta")

    def copy(self, tensors: list[Any]) -> Any:
        self.calls.append("copy")
        self.bytes_copied += sum(tensor.nbytes for tensor in tensors)
        return SimpleNamespace(arrived=lambda: tensors)

    def mark(self) -> Mark:
        self.calls.append("mark")
        self.marks += 1
        return self.marks

    def elapsed_ms(self, begin: Mark, end: Mark) -> float:
        raise AssertionError("times are read in the spool's thread")


@dataclass
class Steps:
    """A runner over valueless tensors, with the recorder in it."""

    device: Valueless
    runner: Any
    kept: list[tuple[str, Callable[[], Any]]]

    def start(self, *keys: str) -> None:
        """Requests that arrive; those with a key of ours ask for a trace."""
        new = [SimpleNamespace(req_id=f"cmpl-{key}-0-0123abcd") for key in keys]
        self.runner.execute_model(
            SimpleNamespace(scheduled_new_reqs=new, finished_req_ids=set()),
        )

    def step(self, *keys: str) -> None:
        """One engine step with a full draft for each request."""
        self.runner.execute_model(SimpleNamespace(scheduled_new_reqs=[], finished_req_ids=set()))
        batch = SimpleNamespace(
            req_ids=[f"cmpl-{key}-0-0123abcd" for key in keys],
            idx_mapping_np=np.arange(len(keys)),
        )
        self.runner.sample(None, batch, None)
        self.runner.propose(batch)


def steps(rule: str = "standard", *, has_draft_logits: bool = True) -> Steps:
    device, kept = Valueless(), []  # type: Valueless, list[Any]
    states = SimpleNamespace(
        temperature=SimpleNamespace(gpu=meta(STATES), np=np.ones(STATES, dtype=np.float32)),
        seeds=SimpleNamespace(np=np.arange(STATES)),
    )
    runner = SimpleNamespace(
        vllm_config=SimpleNamespace(speculative_config=SimpleNamespace(method="draft_model")),
        sampler=SimpleNamespace(sampling_states=states),
        num_speculative_steps=K,
        vocab_size=VOCABULARY,
    )
    writer = SimpleNamespace(
        append=lambda key, line: kept.append((key, line)), finish=lambda key: None
    )
    recorder = Recorder(runner, writer, device, Rule(rule))

    def verify(logits: Any, *_: Any) -> Any:
        return logits, None, None

    def sample(hidden_states: Any, batch: Any, grammar_output: Any) -> Any:
        count = len(batch.req_ids)
        rows = count * (K + 1)
        draft_logits = meta(STATES, K, VOCABULARY) if has_draft_logits else None
        whole = torch.int64
        watched(
            meta(rows, VOCABULARY), draft_logits, meta(rows, dtype=torch.int32),
            meta(rows, dtype=whole), meta(count + 1, dtype=torch.int32),
            meta(count, dtype=torch.int32), batch.idx_mapping_np,
            None, None, None, meta(rows, dtype=torch.int32),
        )  # fmt: skip
        output = SimpleNamespace(sampled_token_ids=meta(count, K + 1, dtype=whole))
        return output, meta(count, dtype=torch.int32), None

    watched = recorder.around_verify(verify)
    runner.sample = recorder.around_sample(sample)
    runner.execute_model = recorder.around_execute_model(lambda scheduler_output: None)
    runner.propose = recorder.around_propose(lambda batch: None)
    return Steps(device, runner, kept)
