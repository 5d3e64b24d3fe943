"""The statements that change the benchmark tables, within the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

import pyarrow as pa
from duckdb import DuckDBPyConnection

from specviz import __version__
from specviz.config import Run, RunStatus
from specviz.prompts.sets import Conversation
from specviz.store.benchmarks.rows import ArmRow, BlockRow, RoundRow
from specviz.store.runs.tables import has_run, insert, insert_arrow, insert_run, to_utc, update

_MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string())])
PROMPTS = pa.schema(
    [
        ("benchmark_id", pa.string()),
        ("prompt_index", pa.int32()),
        ("item_id", pa.string()),
        ("category", pa.string()),
        ("turns", pa.list_(pa.string())),
        ("earlier", pa.list_(_MESSAGE)),
        ("max_tokens", pa.int32()),
    ]
)

BLOCKS = pa.schema(
    [
        *((name, pa.string()) for name in ("block", "benchmark_id", "run_id", "round_id")),
        ("watched", pa.string()),
        ("wall_s", pa.float64()),
        *((f"{of}_share", pa.float64()) for of in ("others", "steal", "throttled", "gpu_others")),
        ("is_disturbed", pa.bool_()),
        ("repeats", pa.string()),
        ("phase_ms", pa.list_(pa.float64())),
    ]
)


def insert_benchmark(
    cursor: DuckDBPyConnection,
    benchmark_id: str,
    *,
    name: str,
    plan_toml: str,
    planned: int,
    conversations: Sequence[Conversation],
    servers_at_once: int,
    at: datetime,
    hardware: str,
    git_revision: str | None,
) -> None:
    """A benchmark that begins, with the prompts it drew."""
    row = {
        "benchmark_id": benchmark_id,
        "name": name,
        "plan_toml": plan_toml,
        "status": RunStatus.RUNNING.value,
        "started_at": to_utc(at),
        "planned": planned,
        "servers_at_once": servers_at_once,
        "hardware": hardware,
        "git_revision": git_revision,
        "specviz_version": __version__,
    }
    insert(cursor, "benchmarks", row)
    prompts = [
        {"benchmark_id": benchmark_id, "prompt_index": index, **asdict(conversation)}
        for index, conversation in enumerate(conversations)
    ]
    insert_arrow(cursor, "benchmark_prompts", pa.Table.from_pylist(prompts, schema=PROMPTS))


def set_status(
    cursor: DuckDBPyConnection,
    benchmark_id: str,
    status: RunStatus,
    at: datetime | None,
    error: str | None,
) -> None:
    """The status of a benchmark; `at` None: it is running."""
    row = {"status": status.value, "finished_at": at and to_utc(at), "error": error}
    update(cursor, "benchmarks", row, "benchmark_id", benchmark_id)


def reopen(cursor: DuckDBPyConnection, benchmark_id: str) -> None:
    """Continue an interrupted benchmark: failed requests are sent again, finished ones stay."""
    set_status(cursor, benchmark_id, RunStatus.RUNNING, None, None)
    failed = (
        "request_id IN (SELECT request_id FROM samples WHERE benchmark_id = $1) "
        "AND status = 'failed'"
    )
    cursor.execute(f"CREATE TEMP TABLE again AS SELECT request_id FROM requests WHERE {failed}",
                   [benchmark_id])  # fmt: skip
    for table in ("samples", "requests"):
        cursor.execute(f"DELETE FROM {table} WHERE request_id IN (SELECT request_id FROM again)")
    cursor.execute("DROP TABLE again")


def put_arm(cursor: DuckDBPyConnection, benchmark_id: str, arm: ArmRow) -> None:
    """An arm as its engine opened now, or why it could not."""
    cursor.execute(
        "DELETE FROM benchmark_arms WHERE benchmark_id = ? AND arm_index = ?",
        [benchmark_id, arm.arm_index],
    )
    insert(cursor, "benchmark_arms", {"benchmark_id": benchmark_id} | asdict(arm))


def put_run(cursor: DuckDBPyConnection, run: Run) -> None:
    """An arm at one temperature and load; an existing one continues."""
    if not has_run(cursor, run.run_id):
        insert_run(cursor, run)


def put_round(cursor: DuckDBPyConnection, benchmark_id: str, round_: RoundRow) -> None:
    """A round that begins or has ended."""
    cursor.execute("DELETE FROM rounds WHERE round_id = ?", [round_.round_id])
    insert(cursor, "rounds", {"benchmark_id": benchmark_id} | asdict(round_))


def insert_blocks(
    cursor: DuckDBPyConnection, benchmark_id: str, blocks: Sequence[BlockRow]
) -> None:
    """Blocks that have ended."""
    rows = [{"benchmark_id": benchmark_id} | asdict(block) for block in blocks]
    insert_arrow(cursor, "blocks", pa.Table.from_pylist(rows, schema=BLOCKS))


def set_aside(cursor: DuckDBPyConnection, block: str, reason: str) -> None:
    """Take the finished requests of a block out of the figures."""
    cursor.execute(
        "UPDATE requests SET status = ?, error = ? WHERE status = 'finished' "
        "AND request_id IN (SELECT request_id FROM samples WHERE block = ?)",
        [RunStatus.SET_ASIDE.value, reason, block],
    )


def set_round_aside(cursor: DuckDBPyConnection, round_id: str, reason: str) -> None:
    """Take the finished requests of a round out of the figures."""
    cursor.execute(
        "UPDATE requests SET status = ?, error = ? WHERE status = 'finished' "
        "AND request_id IN (SELECT request_id FROM samples WHERE round_id = ?)",
        [RunStatus.SET_ASIDE.value, reason, round_id],
    )


def end_runs(
    cursor: DuckDBPyConnection,
    benchmark_id: str,
    status: RunStatus,
    at: datetime,
    error: str | None,
) -> None:
    """The runs of a benchmark end as it does."""
    row = {"status": status.value, "finished_at": to_utc(at), "error": error}
    update(cursor, "runs", row, "group_id", benchmark_id)
