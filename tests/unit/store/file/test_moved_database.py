"""A database that was moved, removed or replaced under its owner: whoever opens it notices."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from specviz.cli import main
from specviz.errors import StoreError
from specviz.store import open_store
from specviz.store.owner import sidecar, write_owner
from tests.support.children import environment
from tests.support.store.made import made

OWNER = """
import sys
from pathlib import Path
from specviz.store import open_store
with open_store(Path(sys.argv[1])) as store:
    store.announce("http://127.0.0.1:9")
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def owned(tmp_path: Path) -> Iterator[Path]:
    """A database that another process has open."""
    path = made(tmp_path / "runs.duckdb")
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(path)],
        env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout is not None and process.stdout.readline() == "open\n"
        yield path


def _moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.duckdb"))


def _replaced(path: Path) -> None:
    _moved(path)
    made(path)


@pytest.mark.parametrize("change", [_moved, Path.unlink, _replaced])
def test_opening_says_so_and_makes_nothing(owned: Path, change: Callable[[Path], None]) -> None:
    change(owned)
    was_there, named = owned.exists(), sidecar(owned).read_text()
    with pytest.raises(StoreError, match=r"moved away or replaced while the specviz app at http"):
        open_store(owned)
    assert owned.exists() is was_there
    assert sidecar(owned).read_text() == named


def test_a_command_says_so(owned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _moved(owned)
    with pytest.raises(SystemExit) as ended:
        main(["query", "SELECT 1", "--db", str(owned)])
    assert ended.value.code == 1
    assert "moved away" in capsys.readouterr().err


def test_an_owner_that_died_is_no_owner(tmp_path: Path) -> None:
    path = tmp_path / "runs.duckdb"
    write_owner(path, None)
    text = sidecar(path).read_text()
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    sidecar(path).write_text(text.replace(text.split(":")[1].split(",")[0], f" {process.pid}"))
    open_store(path).close()
