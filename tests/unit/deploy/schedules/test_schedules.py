"""Every schedule, read back as its server reads it, is the table's row.

vLLM's reader is the installed one. Those of SGLang and TensorRT-LLM are written after the sources
that the modules name.
"""

from __future__ import annotations

import importlib.util
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specviz.deploy.schedules.schedules import NAMES, schedule_of
from specviz.deploy.schedules.steps import Schedule
from specviz.errors import UsageError
from specviz.policy.policy import Basis, Policy, Row

LARGEST = 64


def policy(columns: tuple[int, ...], *rows: tuple[float | None, tuple[int, ...]]) -> Policy:
    made = tuple(
        Row(k=ks, basis=(Basis.MEASURED,) * len(ks), temperature=temperature)
        for temperature, ks in rows
    )
    largest = max(k for row in made for k in row.k)
    return Policy(max(1, largest), columns, made)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    columns = tuple(sorted(draw(st.sets(st.integers(1, 40), min_size=1, max_size=5))))
    ks = st.tuples(*[st.integers(0, 7)] * len(columns))
    return policy(columns, (0.0, draw(ks)), (None, draw(ks)))


def vllm_reader(found: Schedule) -> Callable[[int], int]:
    keys = json.loads(found.option)
    dense = vllm_utils().build_dynamic_sd_schedule_lookup(
        keys["num_speculative_tokens_per_batch_size"], LARGEST, keys["num_speculative_tokens"]
    )
    return lambda size: dense[size]


def vllm_utils() -> Any:
    """vLLM's module by its file: vLLM itself takes ten seconds to import."""
    spec = importlib.util.find_spec("vllm")
    if spec is None or spec.origin is None:
        pytest.skip("vLLM is not installed")
    path = Path(spec.origin).parent / "v1/spec_decode/dynamic/utils.py"
    module = importlib.util.module_from_spec(
        loaded := importlib.util.spec_from_file_location("dynamic_utils", path)
    )
    loaded.loader.exec_module(module)
    return module


def sglang_reader(found: Schedule) -> Callable[[int], int]:
    """`_load_adaptive_config` and `_find_closest_bs`: the largest key that is not above it. One
    candidate is the slot's steps, whatever is accepted."""
    slots = {int(key): entry["candidate_steps"] for key, entry in content(found).items()}
    assert all(len(candidates) == 1 and candidates[0] >= 0 for candidates in slots.values())
    steps = int(found.option.split("--speculative-num-steps ")[1].split()[0])
    assert steps in {candidates[0] for candidates in slots.values()}
    keys = sorted(slots)
    return lambda size: slots[keys[max(0, bisect_right(keys, size) - 1)]][0]


def content(found: Schedule) -> dict[str, Any]:
    (text,) = found.files.values()
    return json.loads(text)


def tensorrt_reader(found: Schedule, *, is_old: bool) -> Callable[[int], int]:
    """`validate_draft_len_schedule_and_sort` and `get_draft_len_for_batch_size` before and after
    NVIDIA/TensorRT-LLM#10860; `max_concurrency` switches off above it in both."""
    config = yaml.safe_load(found.option)["speculative_config"]
    most, limit = config["max_draft_len"], config.get("max_concurrency")
    assert not {"max_concurrency", "draft_len_schedule"} <= config.keys()
    lengths = config.get("draft_len_schedule")
    if lengths is None:
        return lambda size: most if limit is None or size <= limit else 0
    keys = sorted(lengths)
    assert lengths[keys[0]] == most == max(lengths.values())
    if is_old:
        assert keys[0] == 1
        return lambda size: lengths[keys[bisect_right(keys, size) - 1]]

    def up_to(size: int) -> int:
        at = bisect_left(keys, size)
        return lengths[keys[at]] if at < len(keys) else 0

    return up_to


READERS = {
    ("vllm", "0.32"): vllm_reader,
    ("vllm", "0.33"): vllm_reader,
    ("sglang", "0.5.23"): sglang_reader,
    ("tensorrt-llm", "1.2"): lambda found: tensorrt_reader(found, is_old=True),
    ("tensorrt-llm", "1.3"): lambda found: tensorrt_reader(found, is_old=False),
}


@pytest.mark.parametrize(("name", "version"), READERS)
@given(made=policies(), temperature=st.sampled_from([0.0, 1.0]))
def test_read_back_it_gives_the_row(
    name: str, version: str, made: Policy, temperature: float
) -> None:
    row = made.row(temperature).k
    try:
        found = schedule_of(name, made, temperature, version=version)
    except UsageError as error:
        if not any(row):
            assert "leave speculation off" in str(error)
        else:
            assert name == "tensorrt-llm" and max(row) > row[0]
        return
    k_of = READERS[name, version](found)
    sizes = range(1, LARGEST + 1)
    assert [k_of(size) for size in sizes] == [made.k(size, temperature) for size in sizes]


def test_tensorrt_llm_turned_its_keys_round() -> None:
    made = policy((1, 4, 8), (None, (4, 2, 0)))
    written = {
        version: yaml.safe_load(schedule_of("tensorrt-llm", made, version=version).option)
        for version in ("1.2.1", "1.3")
    }
    assert written["1.2.1"]["speculative_config"]["draft_len_schedule"] == {1: 4, 2: 2, 5: 0}
    assert written["1.3"]["speculative_config"]["draft_len_schedule"] == {1: 4, 4: 2}


def test_one_k_that_is_switched_off_is_a_concurrency() -> None:
    made = policy((1, 4, 8), (None, (4, 4, 0)))
    for version in ("1.2", "1.3"):
        option = schedule_of("tensorrt-llm", made, version=version).option
        assert yaml.safe_load(option)["speculative_config"] == {
            "max_draft_len": 4,
            "max_concurrency": 4,
        }


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_cannot(name: str) -> None:
    found = schedule_of(name, policy((1, 8), (None, (3, 1))))
    for word in ("temperature", "top-p", "kind of prompt", "single request"):
        assert word in found.cannot
    assert found.cannot.count(". ") == 0 and found.cannot.endswith(".")


def test_others_and_versions_that_nobody_read_are_named() -> None:
    made = policy((1,), (None, (3,)))
    with pytest.raises(UsageError, match=r"'llama\.cpp' has no schedule of K: choose from vllm"):
        schedule_of("llama.cpp", made)
    remarks = schedule_of("sglang", made, version="0.6").remarks
    assert "not 0.6" in remarks[0].text
