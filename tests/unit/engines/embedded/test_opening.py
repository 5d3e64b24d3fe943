"""Engines are opened from several threads: the app's warm-up and the arms of a job."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from concurrent.futures import ThreadPoolExecutor
from specviz.config import EngineKind, Method, RunConfig
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
