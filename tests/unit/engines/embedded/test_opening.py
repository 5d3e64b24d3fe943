"""Opening embedded engines: from several threads at once, and in which dtype."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.config import EngineKind, RunConfig
from specviz.engines.embedded import faster_dtype as faster_dtypes
from specviz.engines.embedded import opening
from specviz.engines.embedded.faster_dtype import CPU, DTYPES, faster_dtype, step_times_ms
from specviz.engines.embedded.model import Llama, load_model
from specviz.engines.embedded.options import (
    COMPILED,
    LAID_OUT,
    SAME_ROWS,
    dtype_of,
    engine_version,
    repeats_plain,
)
from specviz.methods import Method
from tests.support.demo_models import DEMO_DRAFT

PROGRAM = """
from concurrent.futures import ThreadPoolExecutor
from specviz.config import EngineKind, RunConfig
from specviz.methods import Method
from specviz.opening import warm_up

def opened(method):
    from specviz.engines.embedded.opening import open_engine
    return open_engine(RunConfig(EngineKind.EMBEDDED, method))[1].method.value

warming = warm_up()
with ThreadPoolExecutor(3) as pool:
    print(*pool.map(opened, [Method.BASELINE, Method.DRAFT_MODEL, Method.NGRAM]))
warming.join()
"""


@pytest.mark.slow
def test_a_cold_process_opens_three_arms_and_warms_up_at_once() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )
    assert (answer.stdout.split(), answer.stderr) == (["baseline", "draft_model", "ngram"], "")


@pytest.fixture
def fresh_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A user's cache in which no dtype was measured yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    faster_dtype.cache_clear()
    yield tmp_path / "specviz" / "dtype"
    faster_dtype.cache_clear()


def opened_dtype(**options: str) -> str:
    config = RunConfig(EngineKind.EMBEDDED, Method.BASELINE, options={"device": "cpu", **options})
    _, opened = opening.open_engine(config)
    assert dtype_of(opened.server_version) == opened.options["dtype"]
    return opened.options["dtype"]


@pytest.mark.parametrize(
    ("float32_ms", "bfloat16_ms", "faster"), [(3.0, 4.0, "float32"), (4.0, 3.0, "bfloat16")]
)
def test_auto_is_the_dtype_that_was_measured_to_be_faster(
    monkeypatch: pytest.MonkeyPatch,
    fresh_cache: Path,
    float32_ms: float,
    bfloat16_ms: float,
    faster: str,
) -> None:
    measured = []

    def measure(models: dict[str, Llama]) -> dict[str, float]:
        measured.append([str(model.dtype) for model in models.values()])
        return {"float32": float32_ms, "bfloat16": bfloat16_ms}

    monkeypatch.setattr(faster_dtypes, "step_times_ms", measure)
    assert opened_dtype() == opened_dtype(dtype="auto") == faster
    faster_dtype.cache_clear()  # as in another process
    assert opened_dtype() == faster
    assert measured == [["torch.float32", "torch.bfloat16"]]
    (kept,) = fresh_cache.iterdir()
    assert json.loads(kept.read_text())["faster"] == faster


def test_a_dtype_that_is_named_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
) -> None:
    monkeypatch.setattr(faster_dtypes, "step_times_ms", None)
    assert opened_dtype(dtype="float32") == "float32"
    assert opened_dtype(dtype="bfloat16") == "bfloat16"


@pytest.mark.parametrize("damage", ["", "{}", '{"faster": "int8"}', "[1]"])
def test_a_damaged_answer_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, fresh_cache: Path, damage: str
) -> None:
    times = {"float32": 1.0, "bfloat16": 2.0}
    monkeypatch.setattr(faster_dtypes, "step_times_ms", lambda models: times)
    assert opened_dtype() == "float32"
    (kept,) = fresh_cache.iterdir()
    kept.write_text(damage)
    faster_dtype.cache_clear()
    assert opened_dtype() == "float32"
    assert json.loads(kept.read_text())["ms"] == times


def test_steps_of_both_kinds_are_timed_on_real_models() -> None:
    models = {name: load_model(DEMO_DRAFT, dtype, CPU) for name, dtype in DTYPES.items()}
    times = step_times_ms(models)
    assert times.keys() == DTYPES.keys() and all(0 < time < 60_000 for time in times.values())


VERSIONS = {
    name: engine_version("2.13.0", *about)
    for name, about in {
        "kernels": ("float32", "cpu", COMPILED),
        "laid out": ("bfloat16", "cpu", LAID_OUT),
        "float32 laid out": ("float32", "cpu", LAID_OUT),
        "torch": ("bfloat16", "cpu", None),
        "cuda": ("bfloat16", "cuda", None),
    }.items()
}


@pytest.mark.parametrize(
    ("version", "k", "shape", "promised"),
    [
        ("kernels", 5, "chain", True),
        ("kernels", 32, "tree", True),
        ("laid out", SAME_ROWS - 1, "chain", True),
        ("laid out", SAME_ROWS, "chain", False),
        ("laid out", 3, "tree", False),
        ("float32 laid out", 3, "chain", False),
        ("torch", 3, "chain", False),
        ("cuda", 3, "chain", False),
    ],
)
def test_the_promise_follows_from_how_rows_are_computed(
    version: str, k: int, shape: str, promised: bool
) -> None:
    config = RunConfig(
        EngineKind.EMBEDDED,
        Method.EAGLE3,
        k,
        server_version=VERSIONS[version],
        options={"shape": shape},
    )
    assert repeats_plain(config) is promised


def test_nothing_is_promised_for_servers_and_plain_decoding() -> None:
    plain = RunConfig(EngineKind.EMBEDDED, Method.BASELINE, server_version=VERSIONS["kernels"])
    server = RunConfig(EngineKind.VLLM, Method.EAGLE3, 3, server_version="vLLM 0.32.0")
    assert repeats_plain(plain) is repeats_plain(server) is None
