"""How a command ends: an exit code and, unless all is done, one sentence on standard error.

    0 done · 1 failed · 2 wrong usage · 130 stopped by Ctrl-C · 143 stopped by SIGTERM

Python's own handler of Ctrl-C stays, because asyncio cancels its task in place of that one only.
But others lose the KeyboardInterrupt that it raises: DuckDB makes a RuntimeError of it, an import
of compiled code an ImportError. So a pipe keeps the signals that came, and whatever a command ends
with after one of them is the end that its user asked for.

Nothing slow is imported here: this is in place before a command is.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn, TextIO

from specviz.errors import SpecvizError, UsageError
from specviz.terminal import escaped

STOPS = (signal.SIGINT, signal.SIGTERM)
STOPPED = 128 + signal.SIGINT
AGAIN_S = 0.05

KEPT = {
    "run": "what had arrived is kept",
    "bench": "what has been measured is kept, and `specviz bench --resume` measures the rest",
    "train": "answers and checkpoints are kept, and the same command goes on from them",
    "import": "each file is imported as a whole or not at all, so import them again",
    "export": "no incomplete file is left",
}
"""The rest of the sentence that begins with "Stopped", by command."""

_pipe: int | None = None
_came: list[int] = []


def watch_signals() -> None:
    """Keep the signals that come from now on; SIGTERM stops a command as Ctrl-C does."""
    global _pipe
    _pipe, written = os.pipe()
    for end in (_pipe, written):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _as_ctrl_c)
    sys.unraisablehook = _interrupt_again


def open_closed_streams() -> None:
    """Open streams in place of those that are closed: a file that got their number would get what
    is printed. Writing to such a standard output fails."""
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def exit_code(command: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Run a command and return its exit code; a sentence says why it did not end well.

    An error that nobody foresaw passes through.
    """
    try:
        try:
            code = command(arguments)
            sys.stdout.flush()
        finally:
            _ignore_signals()
    except BaseException as error:
        stop = _first_stop() or (signal.SIGINT if isinstance(error, KeyboardInterrupt) else None)
        code, sentence = (1, _stopped(arguments)) if stop else _ended(error)
        _say(sentence)
    else:
        stop = _first_stop()
    return 128 + stop if code and stop else code


def leave(code: int) -> NoReturn:
    """End the process, without waiting for threads if Ctrl-C was pressed twice."""
    if len(_came) > 1 and threading.active_count() > 1:
        os._exit(code)
    sys.exit(code)


def _stopped(arguments: list[str]) -> str:
    kept = KEPT.get(arguments[0]) if arguments else None
    return f"Stopped: {kept}." if kept else "Stopped."


def _ended(error: BaseException) -> tuple[int, str]:
    """The exit code and the sentence for an error; one that nobody foresaw is raised again."""
    if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
        error = error.__context__  # typer's
    match error:
        case UsageError():
            return 2, str(error)
        case SpecvizError():
            return 1, str(error)
        case BrokenPipeError():
            return 1, "The output is not complete: whoever read it has gone."
        case OSError():
            place = f" ({error.filename})" if error.filename else ""
            return 1, f"Not all could be read or written: {error.strerror or error}{place}."
    raise error


def _say(sentence: str) -> None:
    with suppress(OSError):
        print(escaped(sentence), file=sys.stderr, flush=True)
    for stream in (sys.stdout, sys.stderr):
        if _fails(stream):  # and would again as Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fails(stream: TextIO) -> bool:
    """Whether what was printed cannot be written."""
    try:
        stream.flush()
    except OSError:
        return True
    return False


def _first_stop() -> int | None:
    """The first signal to stop that came, None where none did."""
    if _pipe is not None:
        with suppress(BlockingIOError):
            while came := os.read(_pipe, 64):
                _came.extend(number for number in came if number in STOPS)
    return _came[0] if _came else None


def _ignore_signals() -> None:
    """From here on there is nothing left to interrupt."""
    if _pipe is not None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number in (*STOPS, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):  # a shell's background job ignores Ctrl-C
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


def _interrupt_again(found: Any) -> None:
    """Send another: Python prints one that came in a destructor or a callback, and goes on."""
    if isinstance(found.exc_value, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    else:
        sys.__unraisablehook__(found)
