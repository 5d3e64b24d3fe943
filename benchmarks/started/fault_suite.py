"""Suites of `tests/faults` as measurements: the slow tests, and the figures that they keep."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from specviz.paths import PROJECT_ROOT


def figures_of(*tests: str) -> dict[str, Any]:
    """Run the slow tests of these files. Exits where one of them fails."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "slow", *tests]
        environment = {**os.environ, "SPECVIZ_FIGURES": str(figures)}
        failed = subprocess.run(command, cwd=PROJECT_ROOT, env=environment).returncode
        found: dict[str, Any] = json.loads(figures.read_text()) if figures.exists() else {}
    if failed:
        sys.exit("Some tests failed: nothing is saved.")
    return found
