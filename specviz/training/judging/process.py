"""A program that a model wrote, run apart from this process: within limits, and killed in time."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from typing import IO, Any

from specviz.confinement import isolated_command
from specviz.training.judging.child import MOST_WRITTEN_BYTES, PROCESSOR_S
from specviz.training.judging.trials import Trial

DEADLINE_S = 20.0
"""A program that only waits uses no processor time. The reference needs 0.1 s on a free machine."""

_CHILD = "specviz.training.judging.child"


class Stopped(Exception):
    """The program did not come to outcomes; the message is a sentence that says why."""


def outcomes(source: str, trials: list[Trial]) -> list[str]:
    """What each of `trials` of the program `source` comes to. Raises Stopped.

    In an empty folder and an empty environment, without the memory, files and network of this
    process (`child.take_away`).
    """
    request = json.dumps({"source": source, "trials": trials}).encode()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as results:
        status = _run(request, folder, results)
        results.seek(0)
        written = results.read(MOST_WRITTEN_BYTES)
    if status:
        raise Stopped(_why(status))
    return _checked(written, len(trials))


def _run(request: bytes, folder: str, results: IO[bytes]) -> int:
    """The exit status of the child, -N after signal N."""
    child = subprocess.Popen(
        isolated_command(_CHILD, options=("-S", "-B")),
        stdin=subprocess.PIPE,
        stdout=results,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={},
        start_new_session=True,
    )
    try:
        child.communicate(request, timeout=DEADLINE_S)
    except subprocess.TimeoutExpired as error:
        raise Stopped(f"It does not end within {DEADLINE_S:.0f} s.") from error
    finally:
        child.kill()
        child.wait()
    return child.returncode


def _why(status: int) -> str:
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"It does not end within {PROCESSOR_S} s of processor time."
    if status < 0:
        return f"It ends its process ({signal.Signals(-status).name})."
    return f"It ends its process (exit status {status})."


def _checked(written: bytes, count: int) -> list[str]:
    """A program may write to any file that is open, so what is there need not be outcomes."""
    try:
        found: Any = json.loads(written)
    except ValueError:
        found = None
    if not isinstance(found, list) or len(found) != count:
        raise Stopped("It ends its process before it has returned.")
    return [str(one) for one in found]
