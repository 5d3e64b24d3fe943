"""Hostile SQL: every statement of `tests/faults/test_sql_bombs.py`, and when others are answered.

The tests fail where a statement has an effect, shows a secret or keeps others waiting.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.results_file import add_save_option, save
from specviz.machine import hardware_summary
from specviz.paths import PROJECT_ROOT

TESTS = "tests/faults/test_sql_bombs.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_save_option(parser, "hostile_sql")
    asked = parser.parse_args()
    print(hardware_summary())
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "slow", TESTS]
        environment = {**os.environ, "SPECVIZ_FIGURES": str(figures)}
        failed = subprocess.run(command, cwd=PROJECT_ROOT, env=environment).returncode
        found = json.loads(figures.read_text(encoding="utf-8")) if figures.exists() else {}
    for name, kind in found.items():
        print(f"{name}: {kind['statements']} statements, {max(kind['back_s']):.2f} s at most")
    if failed:
        sys.exit("Some tests failed: nothing is saved.")
    if asked.save:
        save(asked.save, {"targets": found})


if __name__ == "__main__":
    main()
