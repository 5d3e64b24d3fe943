"""Consistency of the rows that arrived: keys, owners, values that this program knows."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from specviz.config import RunStatus
from specviz.errors import UsageError
from specviz.store.exchange.exported_tables import HEADS, ExportedTable, RowOwner
from specviz.store.exchange.staging import Staged, tables_in
from specviz.trace import Channel, Lane, Origin, Verdict

_WORDS = (
    ("decisions", "verdict", "SELECT DISTINCT verdict FROM new_decisions", tuple(Verdict)),
    ("steps", "emitted", "SELECT DISTINCT token.origin FROM "
     "(SELECT unnest(emitted) AS token FROM new_steps)", tuple(Origin)),
    ("steps", "spans", "SELECT DISTINCT span.lane FROM "
     "(SELECT unnest(spans) AS span FROM new_steps)", tuple(Lane)),
    ("steps", "channels", "SELECT DISTINCT unnest(CASE WHEN len(channels) = len(emitted) "
     "THEN channels ELSE ['not one per token'] END) FROM new_steps WHERE channels IS NOT NULL",
     tuple(Channel)),
)  # fmt: skip
"""Table, column, query for its values, and the values that can be read again."""

_NUMBERS = {
    "requests": ("ttft_ms", "e2el_ms", "ttfo_ms"),
    "steps": ("elapsed_ms", "draft_ms", "verify_ms", "wall_ms"),
    "decisions": ("draft_prob", "target_prob", "accept_prob", "u"),
}


def check_contents(cursor: DuckDBPyConnection, staged: Staged) -> None:
    """Raises UsageError with the first thing that is wrong."""
    for exported in tables_in(staged):
        _check_keys(cursor, exported)
        _check_owner(cursor, exported, staged)
    for table, column, sql, words in _WORDS:
        if table in staged.files and column in staged.dataset(table).schema.names:
            odd = [row[0] for row in cursor.execute(sql).fetchall() if row[0] not in words]
            if odd:
                raise UsageError(f"Column {column} of {table} says {str(odd[0])[:80]!r}, which "
                                 "specviz does not know.")  # fmt: skip
    _check_numbers(cursor, staged)
    _check_ended(cursor, staged)
    _check_requests(cursor, staged)


def _check_keys(cursor: DuckDBPyConnection, table: ExportedTable) -> None:
    key = ", ".join(table.key)
    sql = f"SELECT {key} FROM new_{table.name} GROUP BY {key} HAVING count(*) > 1 LIMIT 1"
    found = cursor.execute(sql).fetchone()
    if found is not None:
        values = ", ".join(str(part)[:80] for part in found)
        raise UsageError(f"The table {table.name} has two rows of {key} {values}.")


def _check_owner(cursor: DuckDBPyConnection, table: ExportedTable, staged: Staged) -> None:
    """Every row belongs to a run, benchmark or result that arrived with it."""
    if table.owner is RowOwner.STORE or HEADS.get(table.owner) == table.name:
        return
    head = "requests" if table.owner is RowOwner.REQUEST else HEADS[table.owner]
    lone = f"SELECT {table.owner} FROM new_{table.name}"
    if head in staged.files:
        lone += f" ANTI JOIN new_{head} USING ({table.owner})"
    found = cursor.execute(f"{lone} LIMIT 1").fetchone()
    if found is not None:
        raise UsageError(
            f"The table {table.name} has rows of {table.owner} {str(found[0])[:80]}, "
            f"which the table {head} in the file has not."
        )


def _check_numbers(cursor: DuckDBPyConnection, staged: Staged) -> None:
    """The strip replays only numbers that JSON can hold."""
    for table, columns in _NUMBERS.items():
        if table in staged.files:
            known = [name for name in columns if name in staged.dataset(table).schema.names]
            odd = " OR ".join(f"NOT isfinite({name})" for name in known) or "FALSE"
            if _any(cursor, f"SELECT 1 FROM new_{table} WHERE {odd} LIMIT 1"):
                raise UsageError(f"The table {table} has a time or probability that is no number.")


def _check_ended(cursor: DuckDBPyConnection, staged: Staged) -> None:
    """Nothing that arrives is running: the next start would mark it as interrupted."""
    for table in ("runs", "requests", "benchmarks"):
        if table not in staged.files:
            continue
        statuses = cursor.execute(f"SELECT DISTINCT status FROM new_{table}").fetchall()
        odd = {row[0] for row in statuses} - {*RunStatus} | {
            row[0] for row in statuses if row[0] == RunStatus.RUNNING
        }
        if odd:
            raise UsageError(
                f"The table {table} has the status {min(odd)[:80]!r}: what is imported has ended."
            )


def _check_requests(cursor: DuckDBPyConnection, staged: Staged) -> None:
    """A request or round that is here belongs to the same run here."""
    for table, key in (("requests", "request_id"), ("rounds", "round_id")):
        if table not in staged.files:
            continue
        found = cursor.execute(
            f"SELECT new.{key} FROM new_{table} new JOIN {table} old USING ({key}) "
            "WHERE new.run_id <> old.run_id LIMIT 1"
        ).fetchone()
        if found is not None:
            raise UsageError(
                f"{key} {found[0][:80]} is in the database already, in another run: nothing was "
                "imported."
            )
    for table in ("steps", "decisions"):
        if table in staged.files and "started_at" in staged.dataset(table).schema.names:
            sql = (
                f"SELECT 1 FROM new_{table} t JOIN new_requests r USING (request_id) "
                "WHERE t.started_at <> r.started_at LIMIT 1"
            )
            if _any(cursor, sql):
                raise UsageError(f"The table {table} has other times than its requests.")


def _any(cursor: DuckDBPyConnection, sql: str) -> bool:
    return cursor.execute(sql).fetchone() is not None
