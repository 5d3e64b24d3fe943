"""A server that differs from what the hooks were written for is left as it is, and says why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from specviz.servers.vllm.tracing.v2 import seam


def sample(hidden_states: Any, input_batch: Any, grammar_output: Any) -> None: ...


def runner(**changes: Any) -> Any:
    """As far as the seam looks at it; plain decoding."""
    states = SimpleNamespace(
        temperature=SimpleNamespace(np=None, gpu=None), seeds=SimpleNamespace(np=None)
    )
    parts = {
        "device": torch.device("cpu"),
        "vllm_config": SimpleNamespace(speculative_config=None),
        "batch_sharder": None,
        "sampler": SimpleNamespace(sampling_states=states),
        "rejection_sampler": None,
        "speculator": None,
        "execute_model": lambda scheduler_output: None,
        "sample": sample,
        "num_speculative_steps": 0,
        "vocab_size": 16,
    }
    return SimpleNamespace(**{**parts, **changes})


def without(name: str) -> Any:
    found = runner()
    delattr(found, name)
    return found


def other_sample(hidden_states: Any, batch: Any) -> None: ...


def other_verify(logits: Any, drafts: Any) -> None: ...


DRAFTING = {
    "rejection_sampler": SimpleNamespace(_verify=other_verify),
    "speculator": SimpleNamespace(propose=print),
}


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (runner(batch_sharder=object()), "--enable-batch-sharded-sampling"),
        (runner(device=torch.device("meta")), "of kind meta"),
        (runner(sample=other_sample), "model runner is not known"),
        (runner(**DRAFTING), "rejection sampler is not known"),
        (runner(**{**DRAFTING, "rejection_sampler": None}), "without vLLM's rejection sampler"),
        (runner(sampler=SimpleNamespace()), "has no sampling_states"),
        (without("speculator"), "has no speculator"),
        pytest.param(  # imports vLLM
            without("execute_model"), "has no execute_model", marks=pytest.mark.slow
        ),
    ],
)
def test_a_server_that_differs_is_left_as_it_is(server: Any, words: str) -> None:
    before = dict(vars(server))
    with pytest.raises(seam.SeamUnknown, match=words) as refusal:
        seam.install(server, None)  # type: ignore[arg-type]
    assert vars(server) == before
    assert str(refusal.value).endswith(".") and "\n" not in str(refusal.value)


def test_v2s_runner_is_known_by_its_module() -> None:
    v2 = type("GPUModelRunner", (), {"__module__": "vllm.v1.worker.gpu.model_runner"})
    on_cpu = type("CPUModelRunner", (v2,), {"__module__": "vllm.v1.worker.cpu.model_runner"})
    v1 = type("GPUModelRunner", (), {"__module__": "vllm.v1.worker.gpu_model_runner"})
    assert [seam.is_v2(kind()) for kind in (v2, on_cpu, v1)] == [True, True, False]
