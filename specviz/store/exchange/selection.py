"""What is exported: the ids that a person names, or everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from specviz.config import RunStatus
from specviz.errors import UsageError
from specviz.store.exchange.exported_tables import ExportedTable, RowOwner, columns
from specviz.store.exchange.portions import IN_PORTIONS, Portion, portions

Values = Mapping[str, object]

ROWS_AT_ONCE = 1000

SOME = 10
"""As many ids are listed in a sentence."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Ids by kind; a benchmark's runs are among the runs.

    `left_out` has sentences on what an export of everything had to leave out.
    """

    runs: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    tool_results: tuple[str, ...] = ()
    everything: bool = False
    left_out: tuple[str, ...] = ()

    def ids(self, owner: RowOwner) -> list[str]:
        """The ids that select rows of the owner."""
        if owner is RowOwner.BENCHMARK:
            return list(self.benchmarks)
        return list(self.tool_results if owner is RowOwner.TOOL_RESULT else self.runs)


def select(cursor: DuckDBPyConnection, ids: Sequence[str]) -> Selection:
    """Runs, groups of runs, benchmarks and results of other tools by their ids.

    Raises UsageError for no ids, for an unknown id, and for what is still running.
    """
    if not ids:
        raise UsageError("Name at least one run, benchmark or imported result to export.")
    wanted = list(dict.fromkeys(ids))
    benchmarks = _there(cursor, "benchmarks", "benchmark_id", wanted)
    tool_results = _there(cursor, "elsewhere", "elsewhere_id", wanted)
    groups = _there(cursor, "runs", "group_id", wanted)
    runs = _there(cursor, "runs", "run_id", wanted)
    unknown = [one for one in wanted if one not in {*benchmarks, *tool_results, *groups, *runs}]
    if unknown:
        raise UsageError(
            f"There is no run, benchmark or imported result {named(unknown)} in the database."
        )
    members = [
        run
        for (run,) in cursor.execute(
            "SELECT run_id FROM runs WHERE group_id IN (SELECT unnest($ids::VARCHAR[])) "
            "OR run_id IN (SELECT unnest($ids::VARCHAR[])) ORDER BY started_at, run_id",
            {"ids": wanted},
        ).fetchall()
    ]
    running = _running(cursor, members, benchmarks)
    if running:
        raise UsageError(f"{named(running)} still runs: export it when it has ended.")
    return Selection(tuple(members), tuple(benchmarks), tuple(tool_results))


def select_all(cursor: DuckDBPyConnection) -> Selection:
    """Everything, including what is deleted; what is still running is left out and listed."""
    benchmarks = _ids(cursor, "benchmarks", "benchmark_id")
    runs = _ids(cursor, "runs", "run_id")
    running = set(_running(cursor, runs, benchmarks))
    groups = dict(cursor.execute("SELECT run_id, group_id FROM runs").fetchall())
    left_out = [run for run in runs if running & {run, groups[run]}]
    listed = sorted(running)
    return Selection(
        tuple(run for run in runs if run not in left_out),
        tuple(one for one in benchmarks if one not in running),
        tuple(_ids(cursor, "elsewhere", "elsewhere_id")),
        everything=True,
        left_out=(f"Left out because it still runs: {named(listed)}.",) if listed else (),
    )


def count(cursor: DuckDBPyConnection, table: ExportedTable, selection: Selection) -> int:
    """How many rows of a table are selected."""
    where, values = _where(table, selection)
    row = cursor.execute(f"SELECT count(*) FROM {table.name} WHERE {where}", values).fetchone()
    return int(row[0]) if row else 0


def rows(
    cursor: DuckDBPyConnection, table: ExportedTable, selection: Selection, order: str = ""
) -> pa.RecordBatchReader:
    """The selected rows of a table as Arrow batches; the cursor is busy until they are read.

    What belongs to requests comes in `portions` by their time, each in the order.
    """
    schema = columns(cursor, table.name)
    return pa.RecordBatchReader.from_batches(schema, _batches(cursor, table, selection, order))


def _batches(
    cursor: DuckDBPyConnection, table: ExportedTable, selection: Selection, order: str
) -> Iterator[pa.RecordBatch]:
    if table.name in IN_PORTIONS:
        for portion in portions(cursor, selection.runs):
            yield from _read(cursor, table, Portion.WHERE, portion.values, order)
    else:
        yield from _read(cursor, table, *_where(table, selection), order)


def _read(
    cursor: DuckDBPyConnection, table: ExportedTable, where: str, values: Values, order: str
) -> Iterator[pa.RecordBatch]:
    yield from cursor.execute(f"SELECT * FROM {table.name} WHERE {where} {order}", values).arrow()


def _where(table: ExportedTable, selection: Selection) -> tuple[str, Values]:
    if table.owner is RowOwner.STORE:
        return ("TRUE" if selection.everything else "FALSE"), {}
    where, values = "IN (SELECT unnest($ids::VARCHAR[]))", {"ids": selection.ids(table.owner)}
    if table.owner is RowOwner.REQUEST:
        return f"request_id IN (SELECT request_id FROM requests WHERE run_id {where})", values
    return f"{table.owner} {where}", values


def as_dicts(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Row by row: as Python's a decision takes twenty times its bytes."""
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            yield from batch.slice(start, ROWS_AT_ONCE).to_pylist()


def named(ids: Iterable[str]) -> str:
    """Ids for a sentence: the first ones, and how many more there are."""
    listed = list(ids)
    more = f" and {len(listed) - SOME:,} more" if len(listed) > SOME else ""
    return ", ".join(listed[:SOME]) + more


def _ids(cursor: DuckDBPyConnection, table: str, column: str) -> list[str]:
    cursor.execute(f"SELECT {column} FROM {table} ORDER BY started_at, {column}")
    return [row[0] for row in cursor.fetchall()]


def _there(cursor: DuckDBPyConnection, table: str, column: str, ids: Sequence[str]) -> list[str]:
    cursor.execute(
        f"SELECT DISTINCT {column} FROM {table} WHERE {column} IN (SELECT unnest(?::VARCHAR[]))",
        [list(ids)],
    )
    found = {row[0] for row in cursor.fetchall()}
    return [one for one in ids if one in found]


def _running(
    cursor: DuckDBPyConnection, runs: Sequence[str], benchmarks: Sequence[str]
) -> list[str]:
    """Those that are running, or that have a running request."""
    cursor.execute(
        "SELECT benchmark_id FROM benchmarks WHERE status = $status "
        "AND benchmark_id IN (SELECT unnest($benchmarks::VARCHAR[])) "
        "UNION ALL SELECT run_id FROM runs WHERE run_id IN (SELECT unnest($runs::VARCHAR[])) "
        "AND (status = $status OR run_id IN (SELECT run_id FROM requests WHERE status = $status)) "
        "ORDER BY 1",
        {"status": RunStatus.RUNNING.value, "runs": list(runs), "benchmarks": list(benchmarks)},
    )
    return [row[0] for row in cursor.fetchall()]
