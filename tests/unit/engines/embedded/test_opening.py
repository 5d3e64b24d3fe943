"""Opening embedded engines: from several threads at once, and in which dtype."""

from __future__ import annotations

import subprocess
import sys

import pytest

from specviz.config import EngineKind, RunConfig
from specviz.engines.embedded import opening
from specviz.engines.embedded.options import dtype_of
from specviz.methods import Method

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


def test_a_cold_process_opens_three_arms_and_warms_up_at_once() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )
    assert (answer.stdout.split(), answer.stderr) == (["baseline", "draft_model", "ngram"], "")


@pytest.mark.parametrize(
    ("asked", "has_layout", "found"),
    [
        ({}, True, "bfloat16"),
        ({}, False, "float32"),
        ({"dtype": "auto"}, False, "float32"),
        ({"dtype": "float32"}, True, "float32"),
        ({"dtype": "bfloat16"}, False, "bfloat16"),
    ],
)
def test_auto_is_the_dtype_that_the_processor_computes_fast(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, str], has_layout: bool, found: str
) -> None:
    monkeypatch.setattr(opening, "has_layout", lambda dtype: has_layout)
    options = {"device": "cpu", **asked}
    _, config = opening.open_engine(
        RunConfig(EngineKind.EMBEDDED, Method.BASELINE, options=options)
    )
    assert config.options == {"device": "cpu", "dtype": found}
    assert dtype_of(config.server_version) == found
