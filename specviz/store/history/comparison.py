"""Runs and results that can be compared, and the requests of those that are.

Acceptance comes from the figures of requests, never from `decisions`, of which there are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from duckdb import DuckDBPyConnection

from specviz.config import Run
from specviz.store.runs.runs import PROMPT_START_CHARS, read_run, rows_of

if TYPE_CHECKING:
    import pandas as pd

TURNS_APART = "chr(31)"
"""Separates the turns of a conversation in the key of a prompt."""

_RUNS = """
    SELECT runs.run_id, runs.name, runs.deleted_at, benchmarks.name AS benchmark,
        arms.arm, arms.prefix_caching, coalesce(answered.requests, 0) AS requests
    FROM runs
    LEFT JOIN benchmarks ON benchmarks.benchmark_id = runs.group_id
    LEFT JOIN (
        SELECT rounds.run_id, any_value(benchmark_arms.name) AS arm,
            any_value(prefix_caching) AS prefix_caching
        FROM rounds JOIN benchmark_arms USING (benchmark_id, arm_index)
        WHERE rounds.run_id IN ({marks}) GROUP BY rounds.run_id
    ) AS arms ON arms.run_id = runs.run_id
    LEFT JOIN (
        SELECT run_id, count(*) AS requests FROM requests
        WHERE run_id IN ({marks}) AND status NOT IN ('running', 'set aside') GROUP BY run_id
    ) AS answered ON answered.run_id = runs.run_id
    WHERE runs.run_id IN ({marks})
"""

_REQUESTS = f"""
    SELECT requests.run_id, requests.request_id, requests.status, requests.category,
        left(requests.prompt, {PROMPT_START_CHARS}) AS prompt_start, requests.finish_reason,
        md5(requests.output_text) AS text_key,
        coalesce(asked.prompt_key, md5(requests.prompt)) AS prompt_key,
        coalesce(asked.conversation, md5(requests.prompt)) AS conversation,
        coalesce(asked.turn, 0) AS turn, asked.block, asked.repetition,
        requests.ttft_ms, requests.tpot_ms, requests.e2el_ms,
        requests.output_tokens, requests.num_steps, requests.num_drafts,
        requests.num_draft_tokens, requests.num_accepted_tokens, requests.acceptance_rate_per_pos,
        asked.first_tokens, asked.draft_ms, asked.overlapped_draft_ms, asked.verify_ms
    FROM requests LEFT JOIN (
        SELECT samples.request_id, samples.turn, rounds.repetition,
            coalesce(samples.chunk_tokens[1], 1) AS first_tokens,
            samples.draft_ms, samples.overlapped_draft_ms, samples.verify_ms,
            samples.round_id || '/' || samples.block AS block,
            md5(array_to_string(
                earlier || turns[1:samples.turn + 1], {TURNS_APART})) AS prompt_key,
            md5(array_to_string(earlier || turns[1:1], {TURNS_APART})) AS conversation
        FROM samples JOIN (
            SELECT benchmark_id, prompt_index, turns,
                list_transform(earlier, message -> message.content) AS earlier
            FROM benchmark_prompts
        ) AS prompts USING (benchmark_id, prompt_index)
            JOIN rounds ON rounds.round_id = samples.round_id
        WHERE samples.run_id IN ({{marks}})
    ) AS asked ON asked.request_id = requests.request_id
    WHERE requests.run_id IN ({{marks}}) AND requests.output_text IS NOT NULL
        AND requests.status <> 'set aside'
    ORDER BY requests.started_at, requests.request_id
"""

_BLOCKS = """
    SELECT * FROM blocks WHERE run_id IN ({marks}) AND block IN (
        SELECT block FROM samples JOIN requests USING (request_id)
        WHERE samples.run_id IN ({marks}) AND status = 'finished')
"""

_CANDIDATES = f"""
    WITH page AS (
        SELECT runs.run_id, runs.name, runs.started_at, runs.method, runs.k, runs.options,
            runs.temperature, runs.concurrency, runs.request_rate, runs.engine,
            benchmarks.name AS benchmark
        FROM runs LEFT JOIN benchmarks ON benchmarks.benchmark_id = runs.group_id
        WHERE runs.deleted_at IS NULL AND benchmarks.deleted_at IS NULL
        QUALIFY row_number() OVER (ORDER BY runs.started_at DESC, runs.run_id) <= $most
            OR list_contains($also, runs.run_id)
    ), asked AS (
        SELECT run_id, arg_min(left(prompt, {PROMPT_START_CHARS}), started_at) AS prompt_start
        FROM requests WHERE run_id IN (SELECT run_id FROM page WHERE benchmark IS NULL)
        GROUP BY run_id
    )
    SELECT * FROM page LEFT JOIN asked USING (run_id) ORDER BY started_at DESC, run_id
"""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run or an arm of a benchmark. `requests` have ended.

    `benchmark` is the benchmark's name and `arm` the arm's in it, None for other runs.
    `prefix_caching`: whether its server cached prompts, None if unknown.
    """

    run: Run
    name: str | None
    benchmark: str | None
    arm: str | None
    prefix_caching: bool | None
    requests: int
    deleted_at: datetime | None

    @property
    def has_steps(self) -> bool:
        """Whether its requests were stored step by step; those of benchmarks are samples."""
        return self.benchmark is None


@dataclass(frozen=True, slots=True)
class ComparedToolResult:
    """A result of another tool; see the columns of `elsewhere`. None: not reported."""

    elsewhere_id: str
    name: str
    tool: str
    started_at: datetime | None
    deleted_at: datetime | None
    model: str | None
    server: str | None
    dataset: str | None
    method: str | None
    k: int | None
    concurrency: int | None
    request_rate: float | None
    num_requests: int | None
    output_tokens: int | None
    output_throughput: float | None
    ttft_p50_ms: float | None
    tpot_p50_ms: float | None
    tpot_p95_ms: float | None
    e2el_p50_ms: float | None
    draft_acceptance_rate: float | None
    mean_acceptance_length: float | None
    acceptance_rate_per_pos: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run, an arm or a result of another tool that can be compared, as a list shows it."""

    key: str
    name: str | None
    method: str | None
    k: int | None
    engine: str | None
    options: str | None
    temperature: float | None
    concurrency: int | None
    request_rate: float | None
    started_at: datetime | None
    benchmark: str | None
    prompt_start: str | None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """The text of one answer. `token_ids` are None if unknown or stored with its steps."""

    request_id: str
    run_id: str
    prompt: str
    text: str
    finish_reason: str | None
    fidelity: str | None
    token_ids: tuple[int, ...] | None


def read_compared(cursor: DuckDBPyConnection, run_ids: Sequence[str]) -> list[ComparedRun]:
    """The runs that exist, including deleted ones, in the order of `run_ids`."""
    if not run_ids:
        return []
    cursor.execute(_RUNS.format(marks=_marks(run_ids)), [*run_ids, *run_ids, *run_ids])
    rows = {row.pop("run_id"): row for row in rows_of(cursor)}
    return [
        ComparedRun(run=read_run(cursor, run_id), **rows[run_id])
        for run_id in run_ids
        if run_id in rows
    ]


def read_compared_results(
    cursor: DuckDBPyConnection, ids: Sequence[str]
) -> list[ComparedToolResult]:
    """The results that exist, including deleted ones, in the order of `ids`."""
    if not ids:
        return []
    columns = ", ".join(field.name for field in fields(ComparedToolResult))
    cursor.execute(f"SELECT {columns} FROM elsewhere WHERE elsewhere_id IN ({_marks(ids)})", [*ids])
    rows = {row["elsewhere_id"]: _elsewhere(row) for row in rows_of(cursor)}
    return [rows[key] for key in ids if key in rows]


def read_candidates(
    cursor: DuckDBPyConnection, most: int, also: Sequence[str] = ()
) -> list[Candidate]:
    """Runs and arms, newest first, then results of other tools; without deleted ones.

    At most `most` of either kind, and those with an id in `also` however old they are.
    """
    bounds = {"most": most, "also": list(also)}
    cursor.execute(_CANDIDATES, bounds)
    runs = [Candidate(key=row.pop("run_id"), **row) for row in rows_of(cursor)]
    cursor.execute(
        "SELECT elsewhere_id AS key, name, method, k, NULL AS engine, NULL AS options, "
        "NULL AS temperature, concurrency, request_rate, started_at, NULL AS benchmark, "
        "NULL AS prompt_start, tool FROM elsewhere WHERE deleted_at IS NULL "
        "QUALIFY row_number() OVER (ORDER BY imported_at DESC, elsewhere_id) <= $most "
        "OR list_contains($also, elsewhere_id) ORDER BY imported_at DESC, elsewhere_id",
        bounds,
    )
    return runs + [Candidate(**row) for row in rows_of(cursor)]


def read_compared_requests(cursor: DuckDBPyConnection, run_ids: Sequence[str]) -> pd.DataFrame:
    """One row per request that has an answer, in the order sent; see `analysis.compare.paired`.

    `prompt_key` is equal for equal questions after equal earlier messages (ignoring the arm's own
    answers in between), `conversation` for equal first turns, `text_key` for equal answers.
    """
    sql = _REQUESTS.format(marks=_marks(run_ids))
    frame: pd.DataFrame = cursor.execute(sql, [*run_ids, *run_ids]).arrow().read_all().to_pandas()
    return frame


def read_blocks(cursor: DuckDBPyConnection, run_ids: Sequence[str]) -> pd.DataFrame:
    """The blocks that the figures of benchmarks' arms rest on; see `analysis.benchmark`."""
    marks = _marks(run_ids)
    frame: pd.DataFrame = (
        cursor.execute(_BLOCKS.format(marks=marks), [*run_ids, *run_ids])
        .arrow()
        .read_all()
        .to_pandas()
    )
    return frame


def read_answers(cursor: DuckDBPyConnection, request_ids: Sequence[str]) -> list[AnswerRow]:
    """The texts of requests, in the order of `request_ids`."""
    if not request_ids:
        return []
    marks = _marks(request_ids)
    cursor.execute(
        "SELECT requests.request_id, requests.run_id, prompt, output_text AS text, finish_reason, "
        "fidelity, sampled.token_ids FROM requests LEFT JOIN ("
        f"SELECT request_id, token_ids FROM samples WHERE request_id IN ({marks})"
        f") AS sampled USING (request_id) WHERE requests.request_id IN ({marks})",
        [*request_ids, *request_ids],
    )
    rows = {row["request_id"]: _answer(row) for row in rows_of(cursor)}
    return [rows[key] for key in request_ids if key in rows]


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _elsewhere(row: dict[str, Any]) -> ComparedToolResult:
    rates = tuple(row["acceptance_rate_per_pos"] or ())
    return ComparedToolResult(**{**row, "acceptance_rate_per_pos": rates})


def _answer(row: dict[str, Any]) -> AnswerRow:
    ids = row["token_ids"]
    return AnswerRow(**{**row, "token_ids": None if ids is None else tuple(ids)})
