"""The process in which a program that a model wrote is tried; `process.py` starts and kills it.

It reads {"source", "trials"} from standard input and writes the outcomes, a JSON list of strings,
to its standard output. An outcome says what came back, what was printed or what was raised.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import json
import os
import resource
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

from specviz import confinement

MEMORY_BYTES = 256 * 1024**2
PROCESSOR_S = 2
MOST_WRITTEN_BYTES = 4 * 1024**2
LONGEST_OUTCOME = 200

RAISED = "raises "
"""How the outcome of a program that raised something begins; the name of the error follows."""

_GUARDED = ("os.", "socket.", "subprocess.", "shutil.", "ctypes.", "pty.", "webbrowser.", "urllib.")
_READING = {"os.listdir", "os.scandir", "os.getxattr", "os.listxattr"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def main() -> None:
    """Answer one request and end, whatever threads the program has left."""
    request = json.load(sys.stdin)
    results = os.dup(sys.stdout.fileno())
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    take_away()
    outcomes = [outcome(request["source"], trial) for trial in request["trials"]]
    os.write(results, json.dumps(outcomes).encode())
    os._exit(0)


def take_away() -> None:
    """Memory, processor time, files, network and other processes.

    The kernel's limits hold whatever the program does, Landlock where Linux has it. The audit hook
    (PEP 578) keeps from accidents on every system; a program that is written to get round it can.
    """
    confinement.go_first()
    confinement.limit_memory(MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_WRITTEN_BYTES, MOST_WRITTEN_BYTES))
    system = ("/usr", "/lib", "/lib64", sys.prefix, sys.base_prefix)
    confinement.confine_to(Path.cwd(), system)
    warnings.simplefilter("ignore")
    sys.addaudithook(guard)


def guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Raises PermissionError where a program writes files, starts processes or uses the network."""
    if event == "open":
        forbidden = bool(arguments[2] & _WRITING)
    else:
        forbidden = event.startswith(_GUARDED) and event not in _READING
    if forbidden:
        raise PermissionError(f"A program may not {event}.")


def outcome(source: str, trial: dict[str, Any]) -> str:
    """What one trial of a program comes to, from a fresh start of it."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            result = _tried(source, trial)
    except SystemExit as ended:
        result = f"ends with exit code {ended.code}"
    except BaseException as error:  # whatever it is, it is the program's outcome
        result = f"{RAISED}{type(error).__name__}"
    if printed.getvalue():
        result += f" and prints {printed.getvalue()!r}"
    if len(result) > LONGEST_OUTCOME:
        checksum = crc32(result.encode(errors="replace"))
        result = f"{result[:LONGEST_OUTCOME]}… ({len(result)} characters, CRC {checksum:08x})"
    return result


def _tried(source: str, trial: dict[str, Any]) -> str:
    names: dict[str, Any] = {"__name__": "__main__" if "argv" in trial else "answer"}
    if "argv" in trial:
        sys.argv = ["answer.py", *trial["argv"]]
    if "tests_of" in trial:
        module, name = trial["is"]
        names[trial["tests_of"]] = _tested(module, name, trial["wrong"])
    exec(compile(source, "answer.py", "exec", dont_inherit=True), names)
    if "tests_of" in trial:
        return _test_outcome(names)
    if "argv" in trial:
        return "ends"
    wanted = trial.get("call") or trial["signature"]
    if wanted not in names:
        return "is not defined"
    found = names[wanted]
    if "signature" in trial:
        is_dataclass = dataclasses.is_dataclass(found)
        return f"is a {'dataclass' if is_dataclass else 'class'} with {inspect.signature(found)}"
    return f"gives {shown(found(*trial['args'], **trial['kwargs']))}"


def _tested(module: str, name: str, wrong: list[int] | None) -> Any:
    """The function under test, wrong by one in the case `wrong`."""
    real = getattr(import_module(module), name)

    def function(a: int, b: int) -> Any:
        return real(a, b) + ([a, b] == wrong)

    return function


def _test_outcome(names: dict[str, Any]) -> str:
    tests = [value for name, value in names.items() if name.startswith("test") and callable(value)]
    if not tests:
        return "has no test"
    try:
        for test in tests:
            test()
    except AssertionError:
        return "fails"
    return "passes"


def shown(value: Any) -> str:
    """A value as text that is equal for equal values of equal types only, sets in sorted order."""
    if isinstance(value, dict):
        pairs = sorted(f"{shown(key)}: {shown(one)}" for key, one in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}({', '.join(sorted(map(shown, value)))})"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(shown, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
    if hasattr(value, "__dict__"):
        return f"{value!r} with {shown(vars(value))}"
    return repr(value)
