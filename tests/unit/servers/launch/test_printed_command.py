"""The command to copy."""

from __future__ import annotations

import json
import shlex

import pytest

from specviz.errors import UsageError
from specviz.methods import Method
from specviz.servers.launch.printed_command import serving_command, unnamed, version_note
from specviz.servers.vllm.dialect import LAUNCHER


def test_the_command_is_one_that_a_shell_takes() -> None:
    command = serving_command(LAUNCHER, "org/my model", Method.EAGLE3, "a'b", 5)
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:3] == ["vllm", "serve", "org/my model"]
    assert words[3] == "--speculative-config"
    assert json.loads(words[4]) == {
        "method": "eagle3", "model": "a'b", "num_speculative_tokens": 5,
    }  # fmt: skip
    assert unnamed(command) == []


def test_what_was_not_named_is_to_be_replaced() -> None:
    command = serving_command(LAUNCHER, None, Method.MEDUSA, None, 3)
    assert unnamed(command) == ["YOUR-TARGET-MODEL", "YOUR-MEDUSA-HEADS"]
    lookup = serving_command(LAUNCHER, "m", Method.NGRAM, "left out", 4)
    assert "left out" not in lookup
    assert serving_command(LAUNCHER, "m", Method.BASELINE, None, None) == "vllm serve m"


def test_a_method_that_vllm_removed_says_which_versions_have_it() -> None:
    assert version_note(LAUNCHER, Method.MEDUSA) == "vLLM has medusa up to version 0.32."
    assert version_note(LAUNCHER, Method.EAGLE3) is None
    assert version_note(LAUNCHER, Method.SWIFT) is None


def test_a_method_that_vllm_does_not_have_is_named() -> None:
    with pytest.raises(UsageError, match="vLLM does not have the method swift"):
        serving_command(LAUNCHER, "m", Method.SWIFT, None, 3)
