"""A server that is started while a query's ceiling is on has none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from specviz.servers.launch import server
from specviz.store.sql.memory_ceiling import memory_ceiling

resource = pytest.importorskip("resource")

TELL = (
    "import resource, sys; sys.stdin.readline(); print(*resource.getrlimit(resource.RLIMIT_DATA))"
)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA of another process")
def test_a_child_does_not_keep_the_ceiling() -> None:
    with memory_ceiling(1 << 30):
        lowered, hard = resource.getrlimit(resource.RLIMIT_DATA)
        child = subprocess.Popen(
            [sys.executable, "-c", TELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        server._lift_data_limit(child.pid)
    limits, _ = child.communicate("\n", timeout=30)
    assert lowered != hard
    assert limits.split() == [str(hard), str(hard)]


def test_a_child_that_is_gone_is_no_error() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(30)
    server._lift_data_limit(child.pid)
