"""The sample that ships: runs that specviz recorded itself, for pages that would be empty.

It is a store of its own, a copy that is unpacked once per process and takes nothing. Nothing of it
is ever in anybody's own store.
"""

from __future__ import annotations

import gzip
import logging
import shutil
import threading
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from duckdb import DuckDBPyConnection

from specviz.errors import StoreError
from specviz.paths import DATA
from specviz.store.file.work_folder import work_folder
from specviz.store.store import Store, open_to_read

SAMPLE = DATA / "sample.duckdb.gz"
"""Made by `scripts/record_sample.py`."""

REGRESSION = "regression"
"""The tag of the runs that Compare offers: a draft, and one that is worse."""

REFUSAL = (
    "This is the sample that ships with specviz: it cannot be changed. Runs of your own can be "
    "named, tagged and deleted."
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recorded:
    """When the sample was recorded (UTC), on what, and the runs that show a regression, by name."""

    at: datetime
    hardware: str
    regression: tuple[str, ...]


class Shipped:
    """The sample, opened when it is asked for. Methods may be called from any thread."""

    def __init__(self, file: Path) -> None:
        self.problem: str | None = None
        """Why there is no sample to show, once it was asked for."""
        self._file = file
        self._lock = threading.Lock()
        self._opened = ExitStack()
        self._found: tuple[Store, Recorded] | None = None
        self._is_asked = False

    def store(self) -> Store | None:
        """The sample as a store; None if it is missing or damaged, which `problem` says."""
        found = self._asked()
        return found and found[0]

    def recorded(self) -> Recorded | None:
        found = self._asked()
        return found and found[1]

    def close(self) -> None:
        """Remove the copy. Closing twice is allowed; afterwards there is no sample."""
        with self._lock:
            self._is_asked, self._found = True, None
            self._opened.close()

    def _asked(self) -> tuple[Store, Recorded] | None:
        with self._lock:
            if not self._is_asked:
                self._is_asked = True
                self._open()
            return self._found

    def _open(self) -> None:
        with ExitStack() as undo:
            try:
                copy = undo.enter_context(work_folder()) / "sample.duckdb"
                with gzip.open(self._file) as packed, copy.open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked)
                store = undo.enter_context(open_to_read(copy, REFUSAL))
                self._found = (store, store.read(read_recorded))
            except (OSError, EOFError, zlib.error, StoreError) as error:
                self.problem = (
                    f"The sample that ships with specviz cannot be shown ({error}): restore "
                    f"{self._file} from the repository."
                )
                _log.warning("%s", self.problem)
            else:
                self._opened = undo.pop_all()


def read_recorded(cursor: DuckDBPyConnection) -> Recorded:
    """Raises StoreError where the store has no run."""
    cursor.execute(
        "SELECT max(started_at), max_by(hardware, started_at), "
        "list(run_id ORDER BY name) FILTER (list_contains(tags, ?)) FROM runs",
        [REGRESSION],
    )
    row = cursor.fetchone()
    if row is None or row[0] is None:
        raise StoreError("it has no runs")
    return Recorded(row[0].replace(tzinfo=UTC), row[1] or "unknown hardware", tuple(row[2] or ()))
