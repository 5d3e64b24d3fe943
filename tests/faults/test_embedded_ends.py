"""Runs of the embedded engine that end by themselves beside a busy process: exit code 0, each time.

Threads of torch, DuckDB and Arrow are there while Python ends: one that still needs it would abort
the process. `SPECVIZ_RUNS` says how many.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

import pytest

from tests.support.faults.forked_commands import WAIT_S, WITH_TORCH, Commands

RUNS = int(os.environ.get("SPECVIZ_RUNS", "30"))
METHODS = ("draft_model", "ngram", "mirror", "eagle3", "layer_skip")
WHOLE_EVERY = 10
"""One of so many is a process of its own from the first import."""


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_they_end_by_themselves(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    db, bad = tmp_path / "runs.duckdb", []
    with Commands(WITH_TORCH) as commands, burning():
        for number, method in enumerate(islice(cycle(METHODS), RUNS), 1):
            words = ("run", "--prompt", "Hi", "--max-tokens", "2", "--method", method, "--db", db)
            if number % WHOLE_EVERY:
                ended = commands.run(tmp_path / "run", *words)
                code, said, threads = ended.code, ended.err, ended.threads
            else:
                code, said, threads = *whole(*words), ["MainThread"]
            if code or threads != ["MainThread"] or "terminate" in said:
                bad.append((number, code, said[-500:], threads))
            print(f"{number} of {RUNS}: {len(bad)} bad", flush=True)
    assert not bad


@contextmanager
def burning() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def whole(*words: object) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "specviz", *map(str, words)],
        capture_output=True, text=True, timeout=WAIT_S,
    )  # fmt: skip
    return done.returncode, done.stderr
