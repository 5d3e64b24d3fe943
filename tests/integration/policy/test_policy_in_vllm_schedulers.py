"""A policy in vLLM's own schedulers, without a model: the drafts that come back are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specviz.servers.vllm.scheduler.decision import ASKED
from specviz.servers.vllm.scheduler.scheduler import (
    ALLOWED,
    POLICY_VARIABLE,
    SCHEDULER,
    policy_scheduler,
)
from specviz.servers.vllm.tracing.spool import FOLDER_VARIABLE
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of what vLLM imports: nothing here is ours to warn of
]

K = 5
POLICY = """
version = 1
num_speculative_tokens = 5
requests_running = [1]
[[rows]]
temperature = 0.7
k = [3]
[[rows]]
k = [0]
"""
WISHES: dict[str, dict[str, Any]] = {
    "a": {"extra_args": {"spec_k": 0}},
    "b": {"extra_args": {"spec_k": 2}},
    "c": {"extra_args": {"spec_k": K}},
    "d": {"temperature": 0.6},
    "e": {"temperature": 1.2},
    "f": {"temperature": 1.0, "min_p": 0.2},
}
EXPECTED = {
    "a": (0, ASKED),
    "b": (2, ASKED),
    "c": (K, ASKED),
    "d": (3, "policy: temperature ≤ 0.7, any load"),
    "e": (0, "policy: any request, any load"),
    "f": (0, "min_p"),
}


def scheduler_of(*, asynchronous: bool) -> Any:
    import torch
    from vllm.config import (
        CacheConfig,
        ModelConfig,
        ParallelConfig,
        SchedulerConfig,
        SpeculativeConfig,
        VllmConfig,
    )
    from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
    from vllm.v1.structured_output import StructuredOutputManager

    model = ModelConfig(model=str(DEMO_TARGET), dtype="float32", seed=0)
    config = VllmConfig(
        model_config=model,
        cache_config=CacheConfig(block_size=16, enable_prefix_caching=False),
        scheduler_config=SchedulerConfig(
            max_num_seqs=16,
            max_num_batched_tokens=2048,
            max_model_len=2048,
            is_encoder_decoder=False,
            scheduler_cls=SCHEDULER,
        ),
        speculative_config=SpeculativeConfig(
            method="draft_model",
            model=str(DEMO_DRAFT),
            num_speculative_tokens=K,
            target_model_config=model,
            target_parallel_config=ParallelConfig(),
        ),
    )
    config.scheduler_config.async_scheduling = asynchronous  # a CPU's platform switches it off
    config.cache_config.num_gpu_blocks = 1000
    attention = FullAttentionSpec(block_size=16, num_kv_heads=1, head_size=1, dtype=torch.float32)
    made = config.scheduler_config.get_scheduler_cls()
    assert made is policy_scheduler
    return made(
        vllm_config=config,
        kv_cache_config=KVCacheConfig(1000, [], [KVCacheGroupSpec(["layer"], attention)]),
        structured_output_manager=StructuredOutputManager(config),
        block_size=16,
        hash_block_size=16,
        log_stats=True,
    )


@pytest.mark.parametrize("asynchronous", [False, True])
def test_each_request_gets_its_k_in_every_step(
    asynchronous: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm import SamplingParams
    from vllm.v1.outputs import DraftTokenIds, ModelRunnerOutput
    from vllm.v1.request import Request

    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    monkeypatch.setenv(POLICY_VARIABLE, str(path))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    scheduler = scheduler_of(asynchronous=asynchronous)
    names = {f"cmpl-specviz-{name * 32}-0": name for name in WISHES}
    for request_id, name in names.items():
        params = SamplingParams(max_tokens=50, **{"temperature": 0.0, **WISHES[name]})
        scheduler.add_request(Request(request_id, [1, 2, 3], params, None))
    for step in range(4):
        output = scheduler.schedule()
        drafted = {names[one]: len(ids) for one, ids in output.scheduled_spec_decode_tokens.items()}
        said = {names[one]: allowed for one, allowed in getattr(output, ALLOWED).items()}
        assert said == (EXPECTED if step else {})
        assert drafted == ({name: k for name, (k, _) in EXPECTED.items() if k} if step else {})
        assert output.num_spec_tokens_to_schedule == K
        ids = list(output.num_scheduled_tokens)
        rows = {one: row for row, one in enumerate(ids)}
        ran = ModelRunnerOutput(
            req_ids=ids, req_id_to_index=rows, sampled_token_ids=[[7] for _ in ids]
        )
        scheduler.update_from_output(output, ran)
        if not asynchronous:
            scheduler.update_draft_token_ids(DraftTokenIds(ids, [[9] * K for _ in ids]))
