"""`specviz` as a shell runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from specviz.paths import PROJECT_ROOT


def specviz(db: Path, *arguments: str, timeout_s: float) -> dict[str, Any]:
    """What a command on `db` prints with --json; it must have succeeded."""
    done = subprocess.run(
        [sys.executable, "-m", "specviz", *arguments, "--db", str(db), "--json"],
        cwd=PROJECT_ROOT, capture_output=True, text=True, check=False, timeout=timeout_s,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
