"""Reads benchmarks: each function takes the cursor of `Store.read`."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from duckdb import DuckDBPyConnection

from specviz.config import Message, RunStatus
from specviz.errors import StoreError
from specviz.prompts.sets import Conversation
from specviz.store.benchmarks.rows import (
    ArmRow,
    BenchmarkRow,
    DisturbedRow,
    DoneRequest,
)
from specviz.store.runs.runs import rows_of

if TYPE_CHECKING:
    import pandas as pd

_BENCHMARKS = """
    SELECT benchmarks.*, coalesce(finished, 0) AS finished FROM benchmarks
    LEFT JOIN (
        SELECT benchmark_id, count(*) AS finished
        FROM samples JOIN requests USING (request_id) WHERE status = 'finished' GROUP BY ALL
    ) USING (benchmark_id)
"""

_SAMPLES = """
    SELECT rounds.arm_index, rounds.server_group, samples.round_id,
        coalesce(samples.request_temperature, runs.temperature) AS temperature,
        nullif(runs.concurrency, 0) AS concurrency, runs.request_rate, runs.traffic,
        samples.phase, blocks.phase_ms, rounds.repetition,
        samples.prompt_index, samples.turn, requests.category, requests.status, requests.error,
        samples.block, samples.sent_ms, samples.queue_ms, requests.ttft_ms, requests.tpot_ms,
        requests.e2el_ms, requests.ttfo_ms, requests.output_tokens,
        requests.side_text IS NOT NULL AS has_side_text, hash(samples.token_ids) AS output_hash,
        requests.num_drafts, requests.num_draft_tokens, requests.num_accepted_tokens,
        samples.chunk_ms, samples.per_step_accepted, samples.per_step_drafted, samples.is_chain,
        samples.num_judged_tokens, requests.num_steps,
        coalesce(samples.chunk_tokens[1], 1) AS first_tokens,
        samples.draft_ms, samples.overlapped_draft_ms, samples.verify_ms,
        blocks.repeats, blocks.watched, blocks.wall_s, blocks.is_disturbed,
        blocks.others_share, blocks.steal_share, blocks.throttled_share,
        blocks.gpu_others_share
    FROM samples JOIN requests USING (request_id) JOIN rounds USING (round_id)
        JOIN runs ON runs.run_id = rounds.run_id
        LEFT JOIN blocks ON blocks.block = samples.block
    WHERE samples.benchmark_id = ?
    ORDER BY rounds.arm_index, requests.started_at
"""

_DISTURBED = """
    SELECT block, blocks.round_id,
        list({'prompt_index': prompt_index, 'turn': turn} ORDER BY prompt_index, turn) AS requests,
        any_value(greatest(least(1.0, others_share + steal_share),
            coalesce(gpu_others_share, 0.0))) AS taken_share
    FROM blocks JOIN samples USING (block) JOIN requests USING (request_id)
    WHERE blocks.benchmark_id = $1 AND is_disturbed AND repeats IS NULL AND status = 'finished'
        AND block NOT IN (
            SELECT repeats FROM blocks WHERE benchmark_id = $1 AND repeats IS NOT NULL)
    GROUP BY block, blocks.round_id ORDER BY min(requests.started_at), block
"""

_ROUNDS = """
    SELECT rounds.*, runs.temperature, nullif(runs.concurrency, 0) AS concurrency,
        runs.request_rate
    FROM rounds JOIN runs USING (run_id) WHERE rounds.benchmark_id = ?
    ORDER BY rounds.arm_index, runs.temperature, concurrency, rounds.repetition
"""


def read_benchmark(cursor: DuckDBPyConnection, benchmark_id: str) -> BenchmarkRow:
    """Raises StoreError if there is none."""
    cursor.execute(f"{_BENCHMARKS} WHERE benchmarks.benchmark_id = ?", [benchmark_id])
    for row in rows_of(cursor):
        return _benchmark(row)
    raise StoreError(f"There is no benchmark {benchmark_id} in the database.")


def read_benchmarks(cursor: DuckDBPyConnection, limit: int = 50) -> list[BenchmarkRow]:
    """Newest first, deleted ones left out."""
    cursor.execute(
        f"{_BENCHMARKS} WHERE deleted_at IS NULL ORDER BY started_at DESC, benchmark_id LIMIT ?",
        [limit],
    )
    return [_benchmark(row) for row in rows_of(cursor)]


def read_conversations(cursor: DuckDBPyConnection, benchmark_id: str) -> tuple[Conversation, ...]:
    """The prompts a benchmark drew, in its order."""
    cursor.execute(
        "SELECT * EXCLUDE (benchmark_id, prompt_index) FROM benchmark_prompts "
        "WHERE benchmark_id = ? ORDER BY prompt_index",
        [benchmark_id],
    )
    return tuple(_conversation(row) for row in rows_of(cursor))


def read_arms(cursor: DuckDBPyConnection, benchmark_id: str) -> dict[int, ArmRow]:
    """The arms opened so far, by their index in the plan."""
    cursor.execute(
        "SELECT * EXCLUDE (benchmark_id) FROM benchmark_arms WHERE benchmark_id = ?",
        [benchmark_id],
    )
    return {row["arm_index"]: ArmRow(**row) for row in rows_of(cursor)}


def read_done(cursor: DuckDBPyConnection, benchmark_id: str) -> list[DoneRequest]:
    """Every finished request."""
    cursor.execute(
        "SELECT round_id, prompt_index, turn, output_text AS answer FROM samples "
        "JOIN requests USING (request_id) WHERE benchmark_id = ? AND status = 'finished'",
        [benchmark_id],
    )
    return [DoneRequest(**row) for row in rows_of(cursor)]


def read_disturbed(cursor: DuckDBPyConnection, benchmark_id: str) -> list[DisturbedRow]:
    """The disturbed blocks that were not measured again, in the order of their requests."""
    cursor.execute(_DISTURBED, [benchmark_id])
    return [
        DisturbedRow(
            row["block"],
            row["round_id"],
            tuple((each["prompt_index"], each["turn"]) for each in row["requests"]),
            row["taken_share"],
        )
        for row in rows_of(cursor)
    ]


def read_samples(cursor: DuckDBPyConnection, benchmark_id: str) -> pd.DataFrame:
    """One row per request, finished, failed or set aside; see `analysis.benchmark.summary`."""
    return _frame(cursor, _SAMPLES, benchmark_id)


def read_rounds(cursor: DuckDBPyConnection, benchmark_id: str) -> pd.DataFrame:
    """One row per round; see `analysis.benchmark.summary`."""
    return _frame(cursor, _ROUNDS, benchmark_id)


def _frame(cursor: DuckDBPyConnection, sql: str, benchmark_id: str) -> pd.DataFrame:
    """A query's result with nullable integers, so that NULL and zero differ, and texts as plain
    objects: cutting a frame into its cells takes most of the time of a benchmark's results, and is
    a third slower with pandas' own strings and with a block of memory per column."""
    frame = cursor.execute(sql, [benchmark_id]).arrow().read_all()
    integers = {name: "Int64" for name in (
        "concurrency", "phase", "output_tokens", "num_drafts", "num_draft_tokens",
        "num_accepted_tokens", "num_judged_tokens", "num_steps", "first_tokens", "memory_bytes",
        "server_drafts", "server_draft_tokens", "server_accepted_tokens",
    )}  # fmt: skip
    table: pd.DataFrame = frame.to_pandas(integer_object_nulls=True)
    present = {name: kind for name, kind in integers.items() if name in table.columns}
    texts = dict.fromkeys(table.select_dtypes("str").columns, "object")
    return table.astype(present | texts).copy()


def _benchmark(row: dict[str, Any]) -> BenchmarkRow:
    moments = {
        name: at and at.replace(tzinfo=UTC)
        for name, at in row.items()
        if name in ("started_at", "finished_at", "deleted_at", "imported_at")
    }
    values = {"status": RunStatus(row["status"]), "tags": tuple(row["tags"] or ())}
    return BenchmarkRow(**{**row, **moments, **values})


def _conversation(row: dict[str, Any]) -> Conversation:
    earlier = tuple(Message(**message) for message in row["earlier"])
    return Conversation(**{**row, "turns": tuple(row["turns"]), "earlier": earlier})
