"""Requests in portions: as many as fit into memory together with their steps and decisions.

DuckDB sorts whole rows and hands out a million of them at once, so a hundred long answers would be
more than it may take. The least that it reads is 2,048 rows of a column: so many texts have to fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from duckdb import DuckDBPyConnection

IN_PORTIONS = ("requests", "steps", "decisions")
BYTES_AT_ONCE = 64 * 1024 * 1024

_BYTES = (
    "strlen(prompt) + 2 * coalesce(strlen(output_text), 0) "
    "+ 2 * coalesce(strlen(side_text), 0)"  # of the steps, too
    " + 50::BIGINT * coalesce(output_tokens, 0) + 200::BIGINT * coalesce(num_draft_tokens, 0)"
)
"""Roughly what a request's rows take: in DuckDB a token takes 50 bytes, a decision 200."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Requests that are read together; `first` and `last` say when they were sent."""

    ids: list[str]
    first: datetime
    last: datetime

    WHERE = "started_at BETWEEN $first AND $last AND request_id IN (SELECT unnest($ids::VARCHAR[]))"
    """For requests, steps and decisions: by their times DuckDB skips most other rows."""

    @property
    def values(self) -> dict[str, object]:
        """Parameters of `WHERE`."""
        return {"ids": self.ids, "first": self.first, "last": self.last}


def portions(cursor: DuckDBPyConnection, runs: Sequence[str]) -> Iterator[Portion]:
    """The requests of the runs in the order of their times."""
    cursor.execute(
        f"SELECT request_id, started_at, {_BYTES} FROM requests "
        "WHERE run_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY started_at, request_id",
        [list(runs)],
    )
    portion, size = list[tuple[str, datetime]](), 0
    for request_id, started_at, num_bytes in cursor.fetchall():
        if portion and size + num_bytes > BYTES_AT_ONCE:
            yield _portion(portion)
            portion, size = [], 0
        portion.append((request_id, started_at))
        size += num_bytes
    if portion:
        yield _portion(portion)


def _portion(requests: list[tuple[str, datetime]]) -> Portion:
    return Portion([request_id for request_id, _ in requests], requests[0][1], requests[-1][1])
