"""Commands of specviz in forked processes: the slow imports are paid once, the ends are real.

Run as a program, it imports what starts no thread, reads a command a line from stdin and forks for
it. The child becomes `specviz ARGUMENTS` and ends as any Python does.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from specviz.paths import PROJECT_ROOT
from tests.support.children import environment

LIGHT = ("typer", "rich.console", "httpx2", "openai", "numpy")
WITH_TORCH = (*LIGHT, "torch", "transformers")
WAIT_S = 300.0
"""For whatever is sure to come, on a machine however busy."""


@dataclass
class Command:
    """A command that runs, and the files of what it prints."""

    pid: int
    out: Path
    err: Path
    threads: Path

    def wait_until(self, true: Callable[[Self], bool]) -> None:
        """Until something is seen, or the command has ended."""
        until = time.monotonic() + WAIT_S
        while not true(self) and not self.has_ended:
            assert time.monotonic() < until, (self.out.read_text(), self.err.read_text())
            time.sleep(0.002)

    @property
    def has_ended(self) -> bool:
        return "\nState:\tZ" in self._status

    @property
    def watches_signals(self) -> bool:
        """Whether the command's own handlers are there: Python has none of SIGTERM."""
        return self._has("SigCgt") and not self._has("SigBlk")

    @property
    def _status(self) -> str:
        return Path(f"/proc/{self.pid}/status").read_text()

    def _has(self, signals: str) -> bool:
        mask = self._status.partition(f"\n{signals}:")[2].split()[0]
        return bool(int(mask, 16) >> (signal.SIGTERM - 1) & 1)


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str
    threads: list[str]
    """Names of Python's threads as the interpreter ended; none if it did not end, but exited."""

    @property
    def sentences(self) -> list[str]:
        return self.err.strip().splitlines()


class Commands:
    """Starts commands from a process that has imported `modules`."""

    def __init__(self, modules: Sequence[str] = LIGHT, **variables: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.faults.forked_commands", *modules],
            env=environment(**variables), cwd=PROJECT_ROOT,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.communicate(timeout=WAIT_S)

    def start(
        self,
        folder: Path,
        *arguments: object,
        first: str = "",
        out: Path | None = None,
        **variables: str,
    ) -> Command:
        """`first`: Python that the process runs before the command; `out`: its standard output."""
        folder.mkdir(exist_ok=True)
        place = {name: folder / name for name in ("out", "err", "threads")}
        if out is not None:
            place["out"] = out
        words = {
            "arguments": [*map(str, arguments)], "first": first, "variables": variables,
            **{name: str(path) for name, path in place.items()},
        }  # fmt: skip
        return Command(int(self._ask(words)), **place)

    def ended(self, command: Command) -> Ended:
        """Wait for its end; one that hangs is killed, and its code says so."""
        try:
            command.wait_until(lambda _: False)
        except AssertionError:
            os.kill(command.pid, signal.SIGKILL)
        code = int(self._ask({"wait": command.pid}))
        out = command.out.read_text(errors="replace") if command.out.is_file() else ""
        threads = command.threads.read_text() if command.threads.exists() else ""
        return Ended(code, out, command.err.read_text(), threads.splitlines())

    def run(self, folder: Path, *arguments: object, **how: Any) -> Ended:
        """A command that ends by itself."""
        return self.ended(self.start(folder, *arguments, **how))

    def _ask(self, words: dict[str, Any]) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


def main() -> None:
    """Lines in: a command, or which to wait for. Lines out: its process id; its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for line in sys.stdin:
        words = json.loads(line)
        if "wait" in words:
            _, status = os.waitpid(words["wait"], 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
        elif (pid := os.fork()) == 0:
            become(words)
        else:
            print(pid, flush=True)


def become(words: dict[str, Any]) -> None:
    """Turn this process into a command, whose end is its own."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, words["out"], os.O_WRONLY | os.O_CREAT),
        (2, words["err"], os.O_WRONLY | os.O_CREAT),
    ):
        os.dup2(os.open(path, flags | os.O_CLOEXEC, 0o600), number)
    os.environ.update(words["variables"])
    atexit.register(write_threads, Path(words["threads"]))
    exec(words["first"], {})
    sys.argv = ["specviz", *words["arguments"]]
    importlib.import_module("specviz.__main__").main()


def write_threads(file: Path) -> None:
    names = [f"{one.name}{' (daemon)' * one.daemon}" for one in threading.enumerate()]
    file.write_text("\n".join(names))


if __name__ == "__main__":
    main()
