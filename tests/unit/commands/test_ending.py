"""How commands end: what is printed nowhere, what is not UTF-8, and errors nobody expects."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from specviz.cli import main
from specviz.commands.ending import exit_code
from specviz.errors import EngineError, StoreError, UsageError
from specviz.store import open_store
from tests.support.children import environment

FULL = Path("/dev/full")
has_full = pytest.mark.skipif(
    not FULL.exists() or not stat.S_ISCHR(FULL.stat().st_mode), reason="no /dev/full here"
)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("store") / "runs.duckdb"
    with open_store(path):
        pass
    return path


def in_shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The line of bash, in which "$@" is specviz with its arguments."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line, "-", sys.executable, "-m", "specviz",
         *map(str, arguments)],
        capture_output=True, text=True, env=environment(), timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("Name a plan."), 2, "Name a plan."),
        (StoreError("The database is closed."), 1, "The database is closed."),
        (EngineError("The server ended."), 1, "The server ended."),
        (KeyboardInterrupt(), 130, "Stopped: no incomplete file is left."),
        (BrokenPipeError(32, "Broken pipe"), 1, "whoever read it has gone"),
        (OSError(28, "No space left on device"), 1, "written: No space left on device."),
        (PermissionError(13, "Permission denied", "/a/b"), 1, "Permission denied (/a/b)."),
    ],
)
def test_an_error_is_one_sentence_and_its_code(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(arguments: list[str]) -> int:
        raise error

    assert exit_code(fails, ["export", "--all"]) == code
    printed = capsys.readouterr().err
    assert said in printed and len(printed.splitlines()) == 1


def test_a_defect_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        exit_code(lambda arguments: 1 // 0, [])


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--prompt", "\udcff x"),
        ("query", "SELECT '\udcff'"),
        ("servers", "add", "a\udcff", "http://127.0.0.1:9"),
        ("import", "/nowhere/\udcff.zip"),
        ("bench", "\udcff.toml"),
        ("\udcff",),
    ],
)
def test_what_is_not_utf_8_is_wrong_usage(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert "is not valid UTF-8" in printed and len(printed.splitlines()) == 1
    printed.encode()


@has_full
@pytest.mark.parametrize(
    "line",
    [
        '"$@" > /dev/full',
        pytest.param('PYTHONUNBUFFERED=1 "$@" > /dev/full', marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "FROM range(9999)", "--json"),
        pytest.param(("command", "--help"), marks=pytest.mark.slow),
        ("--version",),
    ],
)
def test_a_full_disk_behind_the_output(line: str, arguments: tuple[str, ...], db: Path) -> None:
    words = (*arguments, "--db", db) if arguments[0] == "query" else arguments
    ended = in_shell(line, *words)
    assert (ended.returncode, ended.stderr) == (
        1, "Not all could be read or written: No space left on device.\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('"$@" | head -c 10 > /dev/null', "The output is not complete: whoever read it has gone."),
        ('"$@" >&-', "Not all could be read or written: Bad file descriptor."),
    ],
    ids=["a reader that goes", "closed"],
)
def test_an_output_that_takes_nothing(line: str, said: str, db: Path) -> None:
    ended = in_shell(line, "query", "FROM range(99999)", "--limit", "99999", "--json", "--db", db)
    assert (ended.returncode, ended.stderr) == (1, f"{said}\n")


@pytest.mark.parametrize("where", ["2>&-", pytest.param("2> /dev/full", marks=has_full)])
def test_without_standard_error_the_exit_code_still_says_it(where: str) -> None:
    ended = in_shell(f'"$@" {where}', "nonsense")
    assert (ended.returncode, ended.stdout) == (2, "")


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    place = tmp_path / "pipe"
    os.mkfifo(place)
    ended = in_shell('"$@"', "gguf", "data/models/demo-draft", "-o", place)
    assert ended.returncode == 2 and "choose another place" in ended.stderr
    assert stat.S_ISFIFO(place.stat().st_mode)


def test_ctrl_c_at_the_first_import_waits_for_the_command() -> None:
    program = (
        "import os, signal, sys; sys.argv = ['specviz', 'doctor'];"
        "import specviz.__main__ as entry; os.kill(os.getpid(), signal.SIGINT); entry.main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment()
    )
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGINT, "Stopped.\n")
