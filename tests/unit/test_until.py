"""A suite that has a time to be done by leaves what it cannot begin, and says so."""

from __future__ import annotations

import subprocess
import sys
import time

from specviz.paths import PROJECT_ROOT

FILE = "tests/unit/test_palette.py"


def run_until(moment: float, *options: str) -> str:
    arguments = [FILE, f"--until={moment}", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=PROJECT_ROOT, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def test_what_is_late_is_not_begun_and_listed() -> None:
    printed = run_until(time.time() - 1, "-n", "1")
    assert "passed" not in printed
    assert "tests not begun before --until" in printed
    assert FILE in printed.split("not begun before --until", 1)[1]


def test_what_is_in_time_runs() -> None:
    printed = run_until(time.time() + 600)
    assert "passed" in printed
    assert "not begun" not in printed
