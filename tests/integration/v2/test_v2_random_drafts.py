"""Lines of the V2 recorder against what vLLM's own V2 kernels did, under Triton's interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specviz.paths import PROJECT_ROOT
from tests.support.v2.on_cpu import HERE, v2_environment

pytestmark = pytest.mark.integration

OTHER_VLLM = "SPECVIZ_OTHER_VLLM"
"""A folder with the Python part of another version of vLLM, as its wheel unpacks."""

RULES = ("standard", "block", "synthetic")


def checked(rule: str, num_drafts: int, seed: int, vllm: Path | None = None) -> Any:
    environment = {**os.environ, **v2_environment(), "VLLM_LOGGING_LEVEL": "ERROR"}
    paths = [environment["PYTHONPATH"], str(PROJECT_ROOT), str(vllm or "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environment["CUDA_VISIBLE_DEVICES"] = ""  # or another version's check finds no driver of Triton
    script = HERE / "random_drafts.py"
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), rule, str(num_drafts), str(seed)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr[-2000:]
    return json.loads(answer.stdout.splitlines()[-1])


def test_lines_say_what_the_kernels_did() -> None:
    found = checked("standard", 20, seed=1)
    assert found["problems"] == []
    assert found["drafts"] >= 20 and found["judged"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_thousand_lines_say_what_the_kernels_did(rule: str) -> None:
    found = checked(rule, 1_000, seed=2)
    assert found["problems"] == []
    assert found["judged"] > 500


@pytest.mark.slow
@pytest.mark.parametrize("rule", [*RULES, "fly"])
def test_lines_of_another_version_do_too(rule: str) -> None:
    found = checked(rule, 1_000, seed=3, vllm=other_vllm())
    assert found["problems"] == []
    assert found["vllm"] != "0.32.0"


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("other", [False, True], ids=["installed", "another"])
def test_twenty_thousand_lines_say_what_the_kernels_did(other: bool) -> None:
    found = checked("standard", 20_000, seed=4, vllm=other_vllm() if other else None)
    assert found["problems"] == []


def other_vllm() -> Path:
    if folder := os.environ.get(OTHER_VLLM):
        return Path(folder)
    pytest.skip(f"{OTHER_VLLM} names no folder with another vLLM, as its wheel unpacks")
