"""Work folders: gone at the end, and gone at the next start where their process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from specviz.store import open_store
from specviz.store.file.work_folder import PREFIX, remove_abandoned, work_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from specviz.store.file.work_folder import work_folder
with work_folder(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("written")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_in(parent: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(parent)])
    assert done.returncode == -signal.SIGKILL
    assert len(list(parent.glob(f"{PREFIX}*"))) == 1


def test_a_folder_is_there_while_it_is_used(tmp_path: Path) -> None:
    with work_folder(tmp_path) as folder:
        (folder / "file").write_text("x")
        remove_abandoned(tmp_path)
        assert (folder / "file").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_with_the_next(tmp_path: Path) -> None:
    killed_in(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / ".specviz-notes").mkdir()
    with work_folder(tmp_path) as folder:
        assert {path.name for path in tmp_path.iterdir()} == {
            folder.name, "mine", ".specviz-notes",
        }  # fmt: skip


def test_what_a_killed_process_left_is_removed_when_a_store_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    killed_in(temporary)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with open_store(tmp_path / "runs.duckdb"):
        assert list(temporary.iterdir()) == []


def test_a_link_with_such_a_name_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("x")
    os.symlink(elsewhere, tmp_path / f"{PREFIX}link")
    remove_abandoned(tmp_path)
    assert (elsewhere / "file").exists()
