"""What each framework makes of the same questions, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from specviz.deploy.framework import Framework
from specviz.deploy.frameworks import framework_of, launch_of, methods_of
from specviz.deploy.launch import Launch
from specviz.errors import UsageError
from specviz.methods import METHODS, VLLM, Method
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.vllm.command_line import speculative_config
from specviz.servers.vllm.dialect import LAUNCHER
from tests.support.deployments import request


def after(launch: Launch, flag: str) -> str:
    return launch.argv[launch.argv.index(flag) + 1]


@pytest.mark.parametrize(
    ("framework", "method", "fields", "sentence"),
    [
        ("vllm", "medusa", {"version": "0.33"}, r"0\.33 does not have medusa.*vLLM up to 0\.32"),
        ("tensorrt-llm", "medusa", {}, "older engine flow.*vLLM up to 0.32"),
        ("triton", "medusa", {"backend": "tensorrt-llm"}, "Triton with TensorRT-LLM 1.3 does not"),
        ("sglang", "suffix", {}, "suffix is in vLLM and in specviz's embedded engine"),
        ("tensorrt-llm", "suffix", {}, "suffix automaton of its own.*suffix is in vLLM"),
        ("tensorrt-llm", "eagle", {}, "Checkpoints of EAGLE 1 and 2 do not open"),
        ("tensorrt-llm", "dflash", {"version": "1.2"}, "TensorRT-LLM from 1.3"),
        ("llama.cpp", "eagle", {}, "it has baseline, draft_model, ngram, eagle3, mtp"),
        ("vllm", "swift", {}, "swift is in specviz's embedded engine"),
        ("vllm", "eagle3", {"topk": 2, "depth": 2, "k": 4}, "SGLang drafts trees"),
        ("sglang", "ngram", {"topk": 2, "depth": 2, "k": 4}, "trees with eagle, eagle3, mtp"),
        ("sglang", "eagle3", {"topk": 2, "depth": 1, "k": 4}, "2 tokens to choose from"),
        ("sglang", "ngram", {"pipeline_parallel": 2}, "across pipeline stages"),
        ("tensorrt-llm", "eagle3", {"topk": 2, "depth": 2, "k": 4, "version": "1.2"}, "From 1.3"),
        ("tensorrt-llm", "eagle3", {"topk": 2, "depth": 2, "k": 5}, "at most top-k × depth, 4"),
        ("tensorrt-llm", "eagle3", {"k": None}, "no K of its own for eagle3: name one"),
        ("tensorrt-llm", "eagle3", {"data_parallel": 2}, "one per group of GPUs"),
        ("llama.cpp", "eagle3", {"data_parallel": 2}, "one per GPU"),
        ("llama.cpp", "ngram", {"model": "./models/llama"}, "neither a .gguf file nor"),
        ("llama.cpp", "ngram", {"tensor_parallel": 2, "pipeline_parallel": 2}, "not both"),
        ("triton", "eagle3", {"extra": ("--x",)}, "from its files"),
        ("triton", "eagle3", {"backend": "onnx"}, "choose from vllm, tensorrt-llm"),
        ("vllm", "eagle3", {"backend": "vllm"}, "A back end is Triton's"),
        ("tgi", "eagle3", {}, "choose from vllm, sglang, tensorrt-llm, triton, llama.cpp"),
        ("vllm", "dflash", {"k": None}, "Name K"),
        ("vllm", "eagle3", {"version": "newest"}, "not a version such as 0.33"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(
    framework: str, method: str, fields: dict[str, Any], sentence: str
):
    with pytest.raises(UsageError, match=sentence):
        launch_of(request(framework, method, **{"k": 3, **fields}))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"model": " "}, "Name the target"),
        ({"method": "speculation"}, "choose from baseline, draft_model"),
        ({"k": 0}, "K is 0"),
        ({"tensor_parallel": -1}, "tensor parallel size is -1"),
        ({"port": 70_000}, "Port 70000"),
        ({"draft": None}, "eagle3 needs a draft: name the EAGLE-3 head"),
        ({"method": "dflash", "draft": None}, "name the dflash draft"),
        ({"method": "ngram", "draft": "d"}, "without weights of its own"),
        ({"topk": 4}, "A tree needs K"),
        ({"depth": 4}, "Depth is a tree's"),
        ({"topk": 2, "depth": 4, "k": 3}, "has at least as many"),
    ],
)
def test_a_request_that_cannot_be_is_refused(fields: dict[str, Any], sentence: str):
    with pytest.raises(UsageError, match=sentence):
        request("vllm", **fields)


def test_vllm_gets_the_config_that_the_launcher_uses():
    """One place has vLLM's words: the command of `specviz serve` and this one agree."""
    for method, record in METHODS.items():
        if VLLM not in record.servers or method is Method.BASELINE:
            continue
        launch = launch_of(request("vllm", method.value, version="0.32"))
        draft = "draft.gguf" if record.needs_draft else None
        spec = ServerSpec(LAUNCHER, "target", method, draft=draft)
        assert json.loads(after(launch, "--speculative-config")) == speculative_config(spec)


def test_sglang_counts_the_token_before_the_draft():
    chain = launch_of(request("sglang", k=3))
    assert [after(chain, f"--speculative-{name}") for name in SGLANG_TREE] == ["3", "1", "4"]
    tree = launch_of(request("sglang", k=8, topk=4, depth=3))
    assert [after(tree, f"--speculative-{name}") for name in SGLANG_TREE] == ["3", "4", "9"]
    unsaid = launch_of(request("sglang"))
    assert not [word for word in unsaid.argv if word.startswith("--speculative-num")]


SGLANG_TREE = ("num-steps", "eagle-topk", "num-draft-tokens")


def test_sglang_needs_a_switch_to_speculate_across_pipeline_stages():
    assert launch_of(request("sglang", "mtp", pipeline_parallel=2)).script.startswith(
        "SGLANG_ENABLE_PP_SPEC=1 \\\n"
    )
    assert not launch_of(request("sglang", "baseline", pipeline_parallel=2)).env


@pytest.mark.parametrize(
    ("version", "flag", "word", "draft"),
    [
        ("1.2", "--extra_llm_api_options", "Eagle", "speculative_model_dir"),
        ("1.3.0rc25", "--config", "Eagle3", "speculative_model"),
    ],
)
def test_tensorrt_llm_changed_its_names(version: str, flag: str, word: str, draft: str):
    launch = launch_of(request("tensorrt-llm", k=3, version=version))
    assert after(launch, flag) == "config.yaml"
    assert yaml.safe_load(launch.files["config.yaml"])["speculative_config"] == {
        "decoding_type": word,
        "max_draft_len": 3,
        draft: "draft.gguf",
    }


def test_files_are_named_in_the_command_where_they_will_be():
    launch = launch_of(request("tensorrt-llm", k=3, folder="/srv/trt/"))
    assert after(launch, "--config") == "/srv/trt/config.yaml"
    assert list(launch.files) == ["config.yaml"]


def test_triton_has_the_engine_arguments_in_a_model_folder():
    launch = launch_of(
        request("triton", model="meta/Llama 3", k=3, tensor_parallel=2, data_parallel=2)
    )
    arguments = json.loads(launch.files["model_repository/Llama_3/1/model.json"])
    assert arguments["model"] == "meta/Llama 3"
    assert (arguments["tensor_parallel_size"], arguments["data_parallel_size"]) == (2, 2)
    assert arguments["speculative_config"]["method"] == "eagle3"
    assert after(launch, "--http-address") == after(launch, "--metrics-address") == "127.0.0.1"


def test_a_version_that_was_not_checked_is_said_to_be_so():
    def unchecked(version: str) -> list[str]:
        remarks = launch_of(request("vllm", k=3, version=version)).remarks
        return [remark.text for remark in remarks if "was checked against" in remark.text]

    assert not unchecked("0.33.1")
    assert "those of 0.33" in unchecked("0.40")[0]
    assert "those of 0.32" in unchecked("0.9.1")[0]


@pytest.mark.parametrize("name", ["vllm", "sglang", "tensorrt-llm", "llama.cpp"])
def test_servers_listen_on_loopback_unless_told_otherwise(name: str):
    assert after(launch_of(request(name, "baseline")), "--host") == "127.0.0.1"
    assert after(launch_of(request(name, "baseline", host="0.0.0.0")), "--host") == "0.0.0.0"


def test_the_newest_version_is_the_default():
    framework: Framework = framework_of("vllm")
    assert launch_of(request("vllm", k=3)).version == framework.versions[-1]
    assert "medusa" in methods_of("vllm", version="0.32")
    assert "medusa" not in methods_of("vllm")
