"""The size of the database file, and the share of some of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from duckdb import DuckDBPyConnection

from specviz.analysis.text import size_text
from specviz.store.history.history import read_run_ids
from specviz.store.history.line import Item
from specviz.store.store import Store

FEW_ROWS = 100_000

_COUNTS = """
    SELECT count(*), coalesce(sum(num_steps), 0),
        coalesce(sum(num_draft_tokens) FILTER (samples.request_id IS NULL), 0)
    FROM requests LEFT JOIN samples USING (request_id)
"""


@dataclass(frozen=True, slots=True)
class FileSize:
    """Bytes of a database's file and of its log, which goes into the file later."""

    file_bytes: int
    log_bytes: int

    @property
    def total_bytes(self) -> int:
        return self.file_bytes + self.log_bytes


@dataclass(frozen=True, slots=True)
class Share:
    """What some runs take: their requests, steps and stored decisions, and as many of all runs'."""

    num_requests: int
    num_steps: int
    num_decisions: int
    num_rows_of_all: int

    @property
    def part(self) -> float | None:
        """Their part of all rows, 0 to 1; None where nothing is stored."""
        rows = self.num_requests + self.num_steps + self.num_decisions
        return rows / self.num_rows_of_all if self.num_rows_of_all else None

    def bytes_of(self, size: FileSize) -> int | None:
        """Their part of the database's bytes. An estimate: a traced decision takes more space than
        a counted one. None below `FEW_ROWS`, where most of a file is blocks that hold little."""
        if self.part is None or self.num_rows_of_all < FEW_ROWS:
            return None
        return round(size.total_bytes * self.part)


def file_size_of(store: Store) -> FileSize | None:
    """What the files of a database take now; None where it is not a file of this machine."""
    if not isinstance(store.location, Path):
        return None
    path = store.location
    log = path.with_name(f"{path.name}.wal")
    return FileSize(*(one.stat().st_size if one.exists() else 0 for one in (path, log)))


def read_share(cursor: DuckDBPyConnection, items: Sequence[Item]) -> Share:
    """Counted from the sums in requests. A benchmark keeps no single decisions."""
    run_ids = read_run_ids(cursor, items)
    cursor.execute(_COUNTS)
    everything = [int(value) for value in cursor.fetchone() or (0, 0, 0)]
    cursor.execute(f"{_COUNTS} WHERE list_contains(?, requests.run_id)", [run_ids])
    own = [int(value) for value in cursor.fetchone() or (0, 0, 0)]
    return Share(own[0], own[1], own[2], sum(everything))


def share_text(share: Share, size: FileSize | None) -> str:
    """`1,240 steps and 6,200 decisions, 12 % of all rows, ≈ 1.50 MiB`."""
    text = f"{share.num_steps:,} steps and {share.num_decisions:,} decisions"
    if share.part is None:
        return text
    percent = f"{100 * share.part:.{0 if share.part > 0.1 else 1}f}"
    text += f", {percent if percent != '0.0' else 'below 0.1'} % of all rows"
    own_bytes = size and share.bytes_of(size)
    return f"{text}, ≈ {size_text(own_bytes)}" if own_bytes else text
