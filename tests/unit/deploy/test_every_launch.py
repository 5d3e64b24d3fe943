"""Every framework, version and method: a sentence, or a command whose options all exist there."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specviz.deploy.frameworks import launch_of, methods_of
from specviz.deploy.launch import Launch
from specviz.deploy.request import Request, Use
from specviz.errors import UsageError
from tests.support.deployments import METHOD_NAMES, PLACES, recorded, request

SIZES = st.sampled_from([1, 1, 2, 4])


@st.composite
def requests(draw: st.DrawFn) -> Request:
    name, backend, version = draw(st.sampled_from(PLACES))
    is_tree = draw(st.booleans())
    shape = {"topk": 2, "depth": draw(st.integers(1, 4))} if is_tree else {}
    k = st.integers(4, 9) if is_tree else st.none() | st.integers(1, 9)
    return request(
        name,
        draw(st.sampled_from(METHOD_NAMES)),
        backend=backend,
        version=version,
        k=draw(k),
        tensor_parallel=draw(SIZES),
        pipeline_parallel=draw(SIZES),
        data_parallel=draw(SIZES),
        port=draw(st.none() | st.integers(1, 65_535)),
        uses=draw(st.none() | st.frozensets(st.sampled_from(list(Use)))),
        **shape,
    )


@given(requests())
def test_every_request_is_refused_in_a_sentence_or_has_only_options_that_exist(asked: Request):
    try:
        launch = launch_of(asked)
    except UsageError as error:
        assert re.fullmatch(r"\S.*\.", str(error), re.DOTALL)
        return
    assert not unknown_options(asked, launch)
    assert launch.script.count(" \\\n  ") < len(launch.argv)


@pytest.mark.parametrize(("name", "backend", "version"), PLACES)
def test_every_method_on_offer_has_a_command(name: str, backend: str | None, version: str):
    for method in methods_of(name, backend, version):
        launch = launch_of(request(name, method, backend=backend, version=version, k=3))
        assert launch.argv


def test_an_option_that_does_not_exist_is_noticed():
    asked = request("vllm", "ngram", k=3, version="0.33", extra=("--num-speculative-tokens", "3"))
    assert unknown_options(asked, launch_of(asked)) == {"--num-speculative-tokens"}
    old = request("llama.cpp", k=3, extra=("--draft-max", "3"))
    assert unknown_options(old, launch_of(old)) == {"--draft-max"}


def unknown_options(asked: Request, launch: Launch) -> set[str]:
    """Flags and keys that the record of the framework's version does not have."""
    check = {"vllm": of_vllm, "sglang": of_sglang, "llama.cpp": of_llama_cpp}
    check |= {"tensorrt-llm": of_tensorrt_llm, "triton": of_triton}
    return check[asked.framework](launch, asked)


def flags(launch: Launch) -> set[str]:
    return {word.partition("=")[0] for word in launch.argv if word.startswith("--")}


def after(launch: Launch, flag: str) -> str:
    return launch.argv[launch.argv.index(flag) + 1]


def of_vllm(launch: Launch, asked: Request) -> set[str]:
    known = recorded("vllm", launch.version)
    config = json.loads(after(launch, "--speculative-config")) if asked.speculates else {}
    return (flags(launch) - {*known["flags"]}) | of_speculative_config(config, known)


def of_speculative_config(config: dict[str, Any], known: dict[str, Any]) -> set[str]:
    methods = {config["method"]} - {*known["methods"]} if config else set()
    return methods | (config.keys() - {*known["speculative_config"]})


def of_sglang(launch: Launch, asked: Request) -> set[str]:
    known = recorded("sglang", launch.version)
    word = {after(launch, "--speculative-algorithm")} if asked.speculates else set()
    return (flags(launch) - {*known["flags"]}) | (word - {*known["algorithms"]})


def of_llama_cpp(launch: Launch, asked: Request) -> set[str]:
    known = recorded("llama.cpp", launch.version)
    word = {after(launch, "--spec-type")} if asked.speculates else set()
    return (flags(launch) - {*known["flags"]}) | (word - {*known["types"]})


def of_tensorrt_llm(launch: Launch, asked: Request) -> set[str]:
    known = recorded("tensorrt-llm", launch.version)
    [text] = launch.files.values()
    content = yaml.safe_load(text)
    return (flags(launch) - {*known["flags"]}) | of_llm_api(content, known, known["options"])


def of_llm_api(content: dict[str, Any], known: dict[str, Any], options: list[str]) -> set[str]:
    config = dict(content.get("speculative_config", {}))
    word = config.pop("decoding_type", None)
    keys = {*known["speculative_config"].get(word, [])} if word else set()
    return (content.keys() - {*options}) | (config.keys() - keys)


def of_triton(launch: Launch, asked: Request) -> set[str]:
    known = recorded("triton")
    wrong = flags(launch) - {*known["flags"]}
    for name, text in launch.files.items():
        if name.endswith("config.pbtxt"):
            wrong |= {*re.findall(r"^\s*(\w+)\b", text, re.MULTILINE)} - {*known["model_config"]}
        elif name.endswith("model.json"):
            arguments, engine = json.loads(text), recorded("vllm", launch.version)
            wrong |= arguments.keys() - {*engine["engine_arguments"]}
            wrong |= of_speculative_config(arguments.get("speculative_config", {}), engine)
        else:
            engine = recorded("tensorrt-llm", launch.version)
            wrong |= of_llm_api(yaml.safe_load(text), engine, known["model_yaml"])
    return wrong
