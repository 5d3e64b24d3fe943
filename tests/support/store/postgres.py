"""A PostgreSQL of the tests' own: in a folder of its own, on a socket, with a password."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from specviz.store import open_store
from specviz.store.location import Lake, parse_location

USER = "specviz"
_numbers = itertools.count()

PASSWORD = "it's secret\\ ;data=x"


@dataclass(frozen=True)
class Postgres:
    """A running server; `folder` has its socket."""

    programs: Path
    folder: Path

    def create(self, database: str, template: str = "template1") -> None:
        self._call("createdb", "-h", str(self.folder), "-U", USER, "-T", template, database)

    def copy(self, template: str, files: Path) -> Lake:
        """A lake with a catalog of its own, made from another one's."""
        database = f"copy{next(_numbers)}"
        self.create(database, template)
        return self.lake(database, files)

    def sql(self, database: str, text: str) -> str:
        arguments = ("-h", str(self.folder), "-U", USER, "-d", database, "-Atqc", text)
        return self._call("psql", *arguments).stdout.strip()

    def catalog(self, database: str, password: str = PASSWORD) -> str:
        """libpq's keywords."""
        escaped = password.replace("\\", "\\\\").replace("'", "\\'")
        return f"host={self.folder} dbname={database} user={USER} password='{escaped}'"

    def text(self, database: str, files: Path, password: str = PASSWORD) -> str:
        return f"ducklake:postgres:{self.catalog(database, password)};data={files}"

    def lake(self, database: str, files: Path, password: str = PASSWORD) -> Lake:
        location = parse_location(self.text(database, files, password))
        assert isinstance(location, Lake)
        return location

    def _call(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.programs / program), *arguments],
            env={**os.environ, "PGPASSWORD": PASSWORD},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Start a server as a user that may (PostgreSQL refuses root); it is gone afterwards."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="specviz-pg-", dir="/tmp"))  # a socket's path is short
    owner = "postgres" if os.geteuid() == 0 else None
    (folder / "password").write_text(PASSWORD)
    if owner is not None:
        shutil.chown(folder, owner)
        shutil.chown(folder / "password", owner)

    def call(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(
            command,
            user=owner,
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=60,
        )

    login = ("-U", USER, "-A", "scram-sha-256", "--pwfile", str(folder / "password"))
    options = f"-c listen_addresses='' -c fsync=off -k {folder}"
    try:
        call("initdb", "--no-sync", "--encoding=UTF8", "--locale=C", *login)
        call("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", options)
        try:
            yield Postgres(programs, folder)
        finally:
            call("pg_ctl", "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the lakes of all tests have their files; the names of these never repeat."""
    return tmp_path_factory.mktemp("lake")


@pytest.fixture(scope="session")
def empty(postgres: Postgres, files: Path) -> str:
    """The catalog of a lake without runs, to be copied: making one takes a second."""
    postgres.create("empty")
    open_store(postgres.lake("empty", files)).close()
    return "empty"


def _programs() -> Path:
    """Where initdb is. scripts/postgres.sh sees to it that there is one."""
    found = shutil.which("initdb")
    places = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    if found is not None:
        return Path(found).resolve().parent
    if not places:
        raise FileNotFoundError("There is no initdb: install the package postgresql.")
    return max(places)
