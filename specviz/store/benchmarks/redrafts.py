"""Redrafts of an arm's answers: what they start from, and what they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from duckdb import DuckDBPyConnection

from specviz.analysis.k.answers import Answer, Key
from specviz.analysis.k.redraft import Redraft
from specviz.store.runs.runs import rows_of
from specviz.store.runs.tables import insert_arrow

_ANSWERS = """
    SELECT samples.prompt_index, samples.turn, requests.category, requests.output_text,
        requests.output_tokens, requests.ttft_ms, requests.e2el_ms, requests.num_steps,
        samples.token_ids, samples.per_step_drafted, samples.per_step_accepted,
        samples.round_id || '/' || samples.block AS block, rounds.server_group
    FROM samples JOIN requests USING (request_id) JOIN rounds USING (round_id)
        JOIN runs ON runs.run_id = rounds.run_id
    WHERE samples.benchmark_id = $1 AND rounds.arm_index = $2 AND requests.status = 'finished'
        AND runs.temperature = $3 AND runs.concurrency = $4
    ORDER BY rounds.repetition, samples.prompt_index, samples.turn
"""

_REDRAFTS = pa.schema(
    [
        ("benchmark_id", pa.string()),
        ("arm_index", pa.int32()),
        ("prompt_index", pa.int32()),
        ("turn", pa.int32()),
        ("k", pa.int16()),
        ("output_tokens", pa.int32()),
        ("drafted", pa.list_(pa.int16())),
        ("matched", pa.list_(pa.int16())),
    ]
)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One finished request of a benchmark's arm with its text and, where known, its tokens. Arms
    with the same `server_group` were measured side by side."""

    answer: Answer
    text: str
    token_ids: tuple[int, ...] | None
    server_group: int


@dataclass(frozen=True, slots=True)
class StepTime:
    """Mean ms of `num_steps` steps with `k` draft tokens."""

    k: int
    step_ms: float
    num_steps: int


def read_answers(
    cursor: DuckDBPyConnection,
    benchmark_id: str,
    arm_index: int,
    temperature: float = 0.0,
    concurrency: int = 1,
) -> list[StoredAnswer]:
    """The finished requests of an arm at one temperature and concurrency, by repetition.

    Requests whose lengths or times are unknown, or whose steps do not add up, are left out.
    """
    cursor.execute(_ANSWERS, [benchmark_id, arm_index, temperature, concurrency])
    return [
        StoredAnswer(
            Answer(
                key=(row["prompt_index"], row["turn"]),
                category=row["category"],
                output_tokens=row["output_tokens"],
                ttft_ms=row["ttft_ms"],
                e2el_ms=row["e2el_ms"],
                drafted=tuple(row["per_step_drafted"] or ()),
                accepted=tuple(row["per_step_accepted"] or ()),
                num_chunks=row["num_steps"],
                block=row["block"],
            ),
            row["output_text"],
            tuple(row["token_ids"]) if row["token_ids"] is not None else None,
            row["server_group"],
        )
        for row in rows_of(cursor)
        if None not in (row["output_tokens"], row["ttft_ms"], row["e2el_ms"])
    ]


def put_redraft(
    cursor: DuckDBPyConnection,
    benchmark_id: str,
    arm_index: int,
    answers: Mapping[Key, Redraft],
    times: Sequence[StepTime],
) -> None:
    """Save a redraft, replacing an earlier one, within the caller's transaction."""
    arm = [benchmark_id, arm_index]
    for table in ("k_replays", "k_step_times"):
        cursor.execute(f"DELETE FROM {table} WHERE benchmark_id = ? AND arm_index = ?", arm)
    rows = [
        {
            "benchmark_id": benchmark_id,
            "arm_index": arm_index,
            "prompt_index": prompt_index,
            "turn": turn,
            "k": answer.k,
            "output_tokens": answer.output_tokens,
            "drafted": answer.drafted,
            "matched": answer.matched,
        }
        for (prompt_index, turn), answer in answers.items()
    ]
    insert_arrow(cursor, "k_replays", pa.Table.from_pylist(rows, schema=_REDRAFTS))
    for time in times:
        cursor.execute(
            "INSERT INTO k_step_times VALUES (?, ?, ?, ?, ?)",
            [*arm, time.k, time.step_ms, time.num_steps],
        )


def read_redraft(
    cursor: DuckDBPyConnection, benchmark_id: str, arm_index: int
) -> dict[Key, Redraft]:
    """By prompt and turn; empty where the arm was not redrafted."""
    cursor.execute(
        "SELECT * FROM k_replays WHERE benchmark_id = ? AND arm_index = ?",
        [benchmark_id, arm_index],
    )
    return {
        (row["prompt_index"], row["turn"]): Redraft(
            row["k"], row["output_tokens"], tuple(row["drafted"]), tuple(row["matched"])
        )
        for row in rows_of(cursor)
    }


def count_redrafts(cursor: DuckDBPyConnection, benchmark_id: str) -> int:
    """How many answers of a benchmark were redrafted."""
    cursor.execute("SELECT count(*) FROM k_replays WHERE benchmark_id = ?", [benchmark_id])
    row = cursor.fetchone()
    assert row is not None
    return int(row[0])


def read_step_times(
    cursor: DuckDBPyConnection, benchmark_id: str, arm_index: int
) -> list[StepTime]:
    """By K, ascending; empty where nothing was timed."""
    cursor.execute(
        "SELECT k, step_ms, num_steps FROM k_step_times "
        "WHERE benchmark_id = ? AND arm_index = ? ORDER BY k",
        [benchmark_id, arm_index],
    )
    return [StepTime(**row) for row in rows_of(cursor)]
