"""Our commands in the argument parser of the vLLM that is installed, without starting it."""

from __future__ import annotations

from typing import Any

import pytest

from specviz.deploy.frameworks import launch_of, methods_of
from tests.support.deployments import recorded, request

pytestmark = [
    pytest.mark.slow,  # vLLM takes more than ten seconds to import
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # its own, and torch's
]


@pytest.fixture(scope="module")
def parser() -> Any:
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    return make_arg_parser(FlexibleArgumentParser(prog="vllm serve"))


@pytest.mark.parametrize("method", methods_of("vllm", version="0.32"))
def test_vllm_understands_the_command(parser: Any, method: str):
    launch = launch_of(
        request("vllm", method, version="0.32", k=3, tensor_parallel=2, pipeline_parallel=2)
    )
    found = parser.parse_args(list(launch.argv[2:]))
    assert (found.tensor_parallel_size, found.pipeline_parallel_size) == (2, 2)
    assert found.host == "127.0.0.1"
    if method != "baseline":
        config = found.speculative_config
        assert (config["method"], config["num_speculative_tokens"]) == (method, 3)


def test_the_record_has_the_flags_of_the_parser(parser: Any):
    """What `scripts/record_options.py` reads without importing is what the parser has."""
    real = {word for action in parser._actions for word in action.option_strings}
    real = {word for word in real if word.startswith("--") and not word.startswith("--no-")}
    listed = {*recorded("vllm", "0.32")["flags"]}
    assert real - listed == {"--help"}
    assert not listed - real


def test_the_engine_accepts_the_keys_of_the_speculative_config():
    from dataclasses import fields

    from vllm.config import SpeculativeConfig

    assert {one.name for one in fields(SpeculativeConfig)} >= {
        *recorded("vllm", "0.32")["speculative_config"]
    }
