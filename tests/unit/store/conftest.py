import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.store import Store, open_store
from tests.support.store.made import made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "runs.duckdb"


@pytest.fixture
def store(path: Path, empty_database: Path) -> Iterator[Store]:
    path.parent.mkdir()
    with open_store(shutil.copyfile(empty_database, path)) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for the many examples of a property."""
    with open_store(made(tmp_path_factory.mktemp("store") / "runs.duckdb")) as opened:
        yield opened
