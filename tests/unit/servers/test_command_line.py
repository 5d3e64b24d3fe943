from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from specviz.errors import UsageError
from specviz.methods import METHODS, VLLM, Method, served_by
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.llama_cpp.dialect import LAUNCHER as LLAMA_CPP
from specviz.servers.vllm import command_line
from specviz.servers.vllm.command_line import (
    server_command,
    speculative_config,
)
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.servers.vllm.environment import PLUGIN_ENTRY, server_environment
from specviz.servers.vllm.kv_cache import STREAMS, kv_cache_bytes
from specviz.servers.vllm.scheduler.scheduler import POLICY_VARIABLE, SCHEDULER


def spec(method: Method = Method.BASELINE, **fields: Any) -> ServerSpec:
    draft = "draft" if METHODS[method].needs_draft else None
    return ServerSpec(LAUNCHER, "target", method, **{"draft": draft, **fields})


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    head = "version = 1\nnum_speculative_tokens = 5\nrequests_running = [1, 8]\n"
    path.write_text(head + "[[rows]]\nk = [5, 0]\n")
    return path


def value_after(command: list[str], flag: str) -> str:
    return command[command.index(flag) + 1]


@pytest.mark.parametrize("method", served_by(VLLM)[1:])
def test_every_method_of_vllm_becomes_a_speculative_config(method: Method) -> None:
    config = speculative_config(spec(method))
    assert config is not None
    assert config["method"] == method.value
    assert config["num_speculative_tokens"] == METHODS[method].servers[VLLM].default_k
    assert ("model" in config) == METHODS[method].needs_draft


def test_k_overrides_the_default() -> None:
    assert spec(Method.NGRAM, k=7).num_speculative_tokens == 7
    assert spec().num_speculative_tokens is None


def test_draft_models_sample_their_drafts_and_lookups_have_a_window() -> None:
    draft, ngram = (
        speculative_config(spec(Method.DRAFT_MODEL)),
        speculative_config(spec(Method.NGRAM)),
    )
    assert draft and draft["draft_sample_method"] == "probabilistic"
    assert ngram and ngram["prompt_lookup_min"] <= ngram["prompt_lookup_max"]


@pytest.mark.parametrize("method", [Method.SWIFT, Method.LAYER_SKIP, Method.MIRROR])
def test_methods_that_vllm_lacks_are_refused_with_those_it_has(method: Method) -> None:
    with pytest.raises(UsageError, match=r"does not have.*baseline, draft_model, ngram"):
        spec(method)


@pytest.mark.parametrize(
    ("method", "fields", "words"),
    [
        (Method.DRAFT_MODEL, {"draft": None}, "needs a draft model"),
        (Method.EAGLE3, {"draft": None}, "needs a draft model"),
        (Method.NGRAM, {"draft": "d"}, "uses no draft model"),
        (Method.BASELINE, {"draft": "d"}, "uses no draft model"),
        (Method.DRAFT_MODEL, {"k": 0}, "use the method baseline"),
        (Method.DRAFT_MODEL, {"k": 500}, "use 1 to 32"),
        (Method.BASELINE, {"k": 4}, "drafts nothing"),
        (Method.BASELINE, {"port": 70000}, "from 1 to 65535"),
        (Method.BASELINE, {"extra_args": ("--port", "1")}, "specviz's own --port"),
        (Method.BASELINE, {"extra_args": ("--port=1",)}, "specviz's own --port"),
    ],
)
def test_what_cannot_work_is_said_in_a_sentence(
    method: Method, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        spec(method, **fields)
    assert str(raised.value).endswith(".")


@pytest.mark.parametrize("installed", ["0.33.0", "0.33.1.dev4+g1234567", "1.0"])
def test_a_method_that_was_removed_is_refused_before_the_start(
    installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "vllm_version", lambda: installed)
    with pytest.raises(UsageError, match=r"no longer has the method medusa.*after 0\.32\."):
        server_command(spec(Method.MEDUSA), on_cpu=False)
    assert server_command(spec(Method.EAGLE3), on_cpu=False)


@pytest.mark.parametrize("installed", ["0.32.0", "0.32.1+cpu", None])
def test_a_method_is_started_as_long_as_vllm_has_it(
    installed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "vllm_version", lambda: installed)
    assert server_command(spec(Method.MEDUSA), on_cpu=False)


def test_only_speculating_servers_get_the_speculation_flags() -> None:
    baseline = server_command(spec(), on_cpu=False)
    assert "--speculative-config" not in baseline
    assert "--per-request-spec-decode-metrics" not in baseline
    drafting = server_command(spec(Method.NGRAM), on_cpu=False)
    assert json.loads(value_after(drafting, "--speculative-config"))["method"] == "ngram"
    assert value_after(drafting, "--per-request-spec-decode-metrics") == "detailed"


def test_servers_listen_on_loopback_unless_set_otherwise() -> None:
    command = server_command(spec(extra_args=("--host", "0.0.0.0")), on_cpu=False)
    assert value_after(command, "--host") == "127.0.0.1"
    assert command[-2:] == ["--host", "0.0.0.0"], "the operator's flag is last and wins"


def test_cpu_flags_stay_off_a_gpu() -> None:
    assert "--enforce-eager" in server_command(spec(), on_cpu=True)
    assert "--enforce-eager" not in server_command(spec(), on_cpu=False)


def test_kv_cache_holds_sixteen_contexts(tmp_path: Path) -> None:
    config = {
        "num_hidden_layers": 8,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "max_position_embeddings": 2048,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    per_token = 8 * 2 * 64 * 2 * 2
    size = kv_cache_bytes([tmp_path])
    assert size is not None and size >= STREAMS * 2048 * per_token
    assert kv_cache_bytes([tmp_path, tmp_path / "elsewhere"]) is None


def test_tracing_names_the_plugin_and_keeps_the_operators(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VLLM_PLUGINS", "mine")
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    env = server_environment(spec(), on_cpu=True)
    assert set(env["VLLM_PLUGINS"].split(",")) == {"mine", "specviz"}
    paths = env["PYTHONPATH"].split(os.pathsep)
    assert str(PLUGIN_ENTRY) in paths and "/theirs" in paths
    assert (PLUGIN_ENTRY / "specviz_tracing-1.dist-info" / "entry_points.txt").is_file()


def test_an_untraced_server_is_a_stock_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_PLUGINS", raising=False)
    env = server_environment(spec(trace=False), on_cpu=True)
    assert "VLLM_PLUGINS" not in env
    assert str(PLUGIN_ENTRY) not in env.get("PYTHONPATH", "")


@pytest.mark.parametrize("method", served_by(VLLM))
@pytest.mark.parametrize("trace", [True, False])
def test_a_gpu_server_runs_as_vllm_would_run_it(
    method: Method, trace: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the plugin is chosen for it, and nothing that vLLM does by itself is off."""
    names = ("VLLM_USE_V2_MODEL_RUNNER", "VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_PLUGINS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    asked = spec(method, trace=trace)
    env = server_environment(asked, on_cpu=False)
    assert {name for name in names if name in env} == ({"VLLM_PLUGINS"} if trace else set())
    flags = {part for part in server_command(asked, on_cpu=False) if part.startswith("--")}
    own = {"--model", "--host", "--speculative-config", "--per-request-spec-decode-metrics"}
    assert flags <= own


@pytest.mark.parametrize("runner", ["0", "1"])
@pytest.mark.parametrize("on_cpu", [True, False])
def test_the_operators_choice_of_a_runner_stays(
    runner: str, on_cpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_USE_V2_MODEL_RUNNER", runner)
    env = server_environment(spec(), on_cpu=on_cpu)
    assert env["VLLM_USE_V2_MODEL_RUNNER"] == runner


def test_a_repeated_prompt_costs_the_same_on_a_cpu() -> None:
    assert "--no-enable-prefix-caching" in server_command(spec(), on_cpu=True)


def test_a_policy_names_its_scheduler_and_loads_the_plugin_untraced_too(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(POLICY_VARIABLE, "of another server")
    plain = spec(Method.DRAFT_MODEL, k=5, trace=False)
    assert POLICY_VARIABLE not in server_environment(plain, on_cpu=True)
    assert "--scheduler-cls" not in server_command(plain, on_cpu=True)
    with_policy = spec(Method.DRAFT_MODEL, k=5, trace=False, policy=policy)
    env = server_environment(with_policy, on_cpu=True)
    assert env[POLICY_VARIABLE] == str(policy.resolve())
    assert "specviz" in env["VLLM_PLUGINS"].split(",")
    command = server_command(with_policy, on_cpu=True)
    assert value_after(command, "--scheduler-cls") == SCHEDULER


def test_a_policy_that_the_server_cannot_follow_is_refused_before_it_starts(policy: Path) -> None:
    with pytest.raises(UsageError, match="num_speculative_tokens = 5, and the server has 4"):
        spec(Method.DRAFT_MODEL, k=4, policy=policy)
    with pytest.raises(UsageError, match="needs a server that speculates"):
        spec(policy=policy)
    with pytest.raises(UsageError, match=r"llama\.cpp has one K for all requests"):
        ServerSpec(LLAMA_CPP, "target.gguf", Method.NGRAM, k=5, policy=policy)
    for wrong in ("k = [5, 9]", "k = [-1, 0]", "k = [5]", 'k = "many"', "k = [5, 0]\ntop_p = 0.5"):
        policy.write_text(policy.read_text().rpartition("\nk")[0] + f"\n{wrong}\n")
        with pytest.raises(UsageError, match=re.escape(str(policy))):
            spec(Method.DRAFT_MODEL, k=5, policy=policy)


def test_only_local_models_go_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    local, named = ServerSpec(LAUNCHER, str(tmp_path)), ServerSpec(LAUNCHER, "org/model")
    assert server_environment(local, on_cpu=True)["HF_HUB_OFFLINE"] == "1"
    assert "HF_HUB_OFFLINE" not in server_environment(named, on_cpu=True)
