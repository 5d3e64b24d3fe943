"""An app whose database another process owns ends with the sentence that says so, alone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from specviz.paths import PROJECT_ROOT
from specviz.store import open_store
from tests.support.children import environment


@pytest.mark.slow  # starts an app
def test_it_ends_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "runs.duckdb"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    variables = environment(SPECVIZ_STORE=str(path))
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    with open_store(path):
        ended = subprocess.run(
            command, cwd=PROJECT_ROOT, env=variables, capture_output=True, text=True, timeout=120
        )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 1
    assert f"The database {path} is in use by process {os.getpid()}: end it first" in said
    assert "Traceback" not in said and "Error" not in said
