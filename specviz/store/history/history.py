"""The history: runs, benchmarks and results of other tools in one list, newest first.

Its figures are sums over requests; decisions are never read, so that the list stays fast however
much is stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.config import EngineKind, RunConfig
from specviz.methods import Method
from specviz.store.runs.runs import PROMPT_START_CHARS, rows_of
from specviz.store.runs.tables import to_utc

IN_THE_APP = "in the app"
"""In place of a server's address where the embedded engine answered."""


class Kind(StrEnum):
    """What a line of the history is."""

    RUN = "run"
    BENCHMARK = "benchmark"
    TOOL_RESULT = "elsewhere"  # what another tool measured


class Order(StrEnum):
    """How lines are sorted; lines without the figure come last."""

    NEWEST = "newest"
    OLDEST = "oldest"
    NAME = "name"
    REQUESTS = "requests"
    ACCEPTANCE = "acceptance"
    TOKENS_PER_STEP = "tok/step"
    OUTPUT_THROUGHPUT = "tok/s"


@dataclass(frozen=True, slots=True)
class Item:
    """Identifies a line: its kind and its id in the table of that kind."""

    kind: Kind
    item_id: str


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run, benchmark or result of another tool.

    `name` was given by a person, else None; `title` describes it. `started_at` is None where
    another tool's file has none. Methods, models, servers, categories and fidelities are those of
    all its requests, in alphabetical order. `num_runs`: runs of a benchmark, 1 for a run, 0 for
    other tools. `draft_acceptance_rate`: accepted / draft tokens of all requests, `tokens_per_step`
    likewise, `output_throughput`: of one stream, not of the server; all three are None for a
    benchmark, whose arms differ.
    """

    item: Item
    group_id: str
    name: str | None
    title: str
    started_at: datetime | None
    status: str | None
    methods: tuple[str, ...]
    models: tuple[str, ...]
    servers: tuple[str, ...]
    categories: tuple[str, ...]
    fidelities: tuple[str, ...]
    tags: tuple[str, ...]
    note: str | None
    prompt_start: str | None
    num_requests: int
    num_runs: int
    draft_acceptance_rate: float | None
    tokens_per_step: float | None
    output_throughput: float | None
    imported_at: datetime | None
    deleted_at: datetime | None

    @property
    def label(self) -> str:
        """Its name in a list."""
        return self.name or self.title


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which lines to list. An empty tuple matches everything; of several values one is enough.
    `text` is searched in names, notes, tags, methods and prompts, ignoring case. Times have a zone;
    a line is within them by its start, or by its import if the start is unknown."""

    kinds: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    fidelities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """One page of lines, and how many there are on all pages."""

    rows: tuple[HistoryRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Choices:
    """What each filter can be set to, in alphabetical order. Tags include those of deleted lines,
    because they are also offered for tagging."""

    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    fidelities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class About:
    """What is stored about a run in addition to its configuration.

    `benchmark_id` is None for a run that is not part of a benchmark; `num_together` counts the
    runs of its group. Deleted with its benchmark counts as deleted.
    """

    run_id: str
    name: str | None
    note: str | None
    tags: tuple[str, ...]
    deleted_at: datetime | None
    imported_at: datetime | None
    specviz_version: str
    benchmark_id: str | None
    num_together: int

    @property
    def item(self) -> Item:
        """What is deleted and restored: a benchmark as a whole."""
        if self.benchmark_id:
            return Item(Kind.BENCHMARK, self.benchmark_id)
        return Item(Kind.RUN, self.run_id)


_SERVER = f"CASE WHEN engine = 'embedded' THEN '{IN_THE_APP}' ELSE server_url END"


def _distinct(value: str) -> str:
    """SQL: the different values of a group without the missing ones."""
    return f"list_sort(list(DISTINCT {value}) FILTER ({value} IS NOT NULL))"


def _one(value: str) -> str:
    """SQL: a list of the value, empty where it is missing."""
    return f"CASE WHEN {value} IS NULL THEN []::VARCHAR[] ELSE [{value}] END"


_ITEMS = f"""
    WITH answered AS NOT MATERIALIZED (
        SELECT run_id, count(*) AS num_requests,
            {_distinct("category")} AS categories, {_distinct("fidelity")} AS fidelities,
            arg_min(left(prompt, {PROMPT_START_CHARS}), started_at) AS prompt_start,
            {{matches}} AS prompt_matches,
            sum(num_accepted_tokens) / nullif(sum(num_draft_tokens), 0) AS draft_acceptance_rate,
            sum(output_tokens) / nullif(
                sum(num_steps) FILTER (output_tokens IS NOT NULL), 0) AS tokens_per_step,
            sum(output_tokens) * 1000 / nullif(
                sum(e2el_ms) FILTER (output_tokens IS NOT NULL), 0) AS output_throughput
        FROM requests WHERE status <> 'set aside' AND {{scope}} GROUP BY run_id
    ), arms AS NOT MATERIALIZED (
        SELECT group_id, count(*) AS num_runs, sum(num_requests) AS num_requests,
            {_distinct("method")} AS methods, {_distinct("model")} AS models,
            {_distinct(_SERVER)} AS servers,
            list_sort(list_distinct(flatten(list(coalesce(categories, []))))) AS categories,
            list_sort(list_distinct(flatten(list(coalesce(fidelities, []))))) AS fidelities,
            bool_or(prompt_matches) AS prompt_matches
        FROM runs SEMI JOIN benchmarks ON runs.group_id = benchmarks.benchmark_id
            LEFT JOIN answered USING (run_id)
        GROUP BY group_id
    ), items AS (
        SELECT 'run' AS kind, run_id AS item_id, group_id, name, method, k, options, NULL AS tool,
            started_at, started_at AS placed_at, status, {_one("method")} AS methods,
            {_one("model")} AS models, {_one(_SERVER)} AS servers, categories, fidelities,
            tags, note, prompt_start, prompt_matches, num_requests, 1 AS num_runs,
            draft_acceptance_rate, tokens_per_step, output_throughput, imported_at, deleted_at
        FROM runs ANTI JOIN benchmarks ON runs.group_id = benchmarks.benchmark_id
            LEFT JOIN answered USING (run_id)
        UNION ALL BY NAME
        SELECT 'benchmark' AS kind, benchmark_id AS item_id, benchmark_id AS group_id, name,
            started_at, started_at AS placed_at, status, methods, models, servers, categories,
            fidelities, tags, note, prompt_matches, num_requests, num_runs,
            imported_at, deleted_at
        FROM benchmarks LEFT JOIN arms ON arms.group_id = benchmark_id
        UNION ALL BY NAME
        SELECT 'elsewhere' AS kind, elsewhere_id AS item_id, elsewhere_id AS group_id, name,
            method, k, tool, started_at, coalesce(started_at, imported_at) AS placed_at,
            {_one("method")} AS methods, {_one("model")} AS models, {_one("server")} AS servers,
            tags, note, num_requests, 0 AS num_runs,
            draft_acceptance_rate, imported_at, deleted_at
        FROM elsewhere
    )
"""

_ORDERS = {
    Order.NEWEST: "placed_at DESC",
    Order.OLDEST: "placed_at",
    Order.NAME: "lower(coalesce(name, method)) NULLS LAST",
    Order.REQUESTS: "num_requests DESC NULLS LAST",
    Order.ACCEPTANCE: "draft_acceptance_rate DESC NULLS LAST",
    Order.TOKENS_PER_STEP: "tokens_per_step DESC NULLS LAST",
    Order.OUTPUT_THROUGHPUT: "output_throughput DESC NULLS LAST",
}

_OF_REQUESTS = (Order.REQUESTS, Order.ACCEPTANCE, Order.TOKENS_PER_STEP, Order.OUTPUT_THROUGHPUT)
"""Orders by sums over requests; the others do not read requests."""

_LISTS = ("methods", "models", "servers", "categories", "fidelities")
_FOUND = "contains(lower({}), lower($text))"
_ABOUT = """
    SELECT run_id, runs.name, runs.note, runs.tags, runs.imported_at, runs.specviz_version,
        coalesce(runs.deleted_at, benchmarks.deleted_at) AS deleted_at, benchmark_id,
        (SELECT count(*) FROM runs AS others WHERE others.group_id = runs.group_id) AS num_together
    FROM runs LEFT JOIN benchmarks ON runs.group_id = benchmark_id
    WHERE list_contains($run_ids, run_id)
"""
_CHOICES = {
    "methods": "SELECT method FROM runs UNION SELECT method FROM elsewhere",
    "models": "SELECT model FROM runs UNION SELECT model FROM elsewhere",
    "servers": f"SELECT {_SERVER} FROM runs UNION SELECT server FROM elsewhere",
    "categories": "SELECT DISTINCT category FROM requests",
    "tags": "SELECT unnest(tags) FROM runs UNION SELECT unnest(tags) FROM benchmarks "
    "UNION SELECT unnest(tags) FROM elsewhere",
    "fidelities": "SELECT DISTINCT fidelity FROM requests",
    "statuses": "SELECT status FROM runs UNION SELECT status FROM benchmarks",
}


def read_history(
    cursor: DuckDBPyConnection,
    wanted: HistoryFilter | None = None,
    *,
    order: Order = Order.NEWEST,
    limit: int = 50,
    offset: int = 0,
) -> History:
    """One page of the lines that match `wanted`; a benchmark is one line, without its runs."""
    where, values = _conditions(wanted or HistoryFilter())
    matches = f"bool_or({_FOUND.format('prompt')})" if "text" in values else "false"
    found = f"FROM items WHERE {where}"
    asks_requests = {"categories", "fidelities", "text"} & {*values} or order in _OF_REQUESTS
    items = _ITEMS.format(matches=matches, scope="true" if asks_requests else "false")
    # not count(*) OVER (): with UNION ALL it crashes DuckDB now and then (duckdb#22352)
    total = cursor.execute(f"{items} SELECT count(*) {found}", values).fetchone()
    cursor.execute(
        f"{items} SELECT item_id, group_id {found} "
        f"ORDER BY {_ORDERS[order]}, item_id LIMIT {int(limit)} OFFSET {int(offset)}",
        values,
    )
    page = list(rows_of(cursor))
    return History(tuple(_rows(cursor, page)), total[0] if total else 0)


def read_choices(cursor: DuckDBPyConnection) -> Choices:
    """What each filter can be set to."""
    return Choices(**{name: _values(cursor, sql) for name, sql in _CHOICES.items()})


def has_history(cursor: DuckDBPyConnection) -> bool:
    """Whether anything is stored at all, deleted or not."""
    cursor.execute(
        "SELECT EXISTS (FROM runs) OR EXISTS (FROM benchmarks) OR EXISTS (FROM elsewhere)"
    )
    row = cursor.fetchone()
    return bool(row and row[0])


def read_about(cursor: DuckDBPyConnection, run_ids: Sequence[str]) -> dict[str, About]:
    """What is stored about runs in addition to their configuration, by id, without unknown ids."""
    cursor.execute(_ABOUT, {"run_ids": list(run_ids)})
    return {row["run_id"]: About(**_shown(row)) for row in rows_of(cursor)}


def read_run_ids(cursor: DuckDBPyConnection, items: Sequence[Item]) -> list[str]:
    """The runs of these lines, those of a benchmark in the order of its arms; results of other
    tools have none."""
    found: list[str] = []
    for item in items:
        if item.kind is Kind.RUN:
            found.append(item.item_id)
        elif item.kind is Kind.BENCHMARK:
            cursor.execute(
                "SELECT run_id FROM runs LEFT JOIN (SELECT run_id, min(arm_index) AS arm_index "
                "FROM rounds GROUP BY run_id) USING (run_id) WHERE group_id = ? "
                "ORDER BY arm_index, temperature, concurrency, run_id",
                [item.item_id],
            )
            found += [row[0] for row in cursor.fetchall()]
    return found


def _conditions(wanted: HistoryFilter) -> tuple[str, dict[str, Any]]:
    """The WHERE clause and the values it names."""
    where = [f"deleted_at IS {'NOT ' if wanted.deleted else ''}NULL"]
    values: dict[str, Any] = {}
    for name in (*_LISTS, "tags"):
        if chosen := getattr(wanted, name):
            where.append(f"list_has_any(coalesce({name}, []), ${name})")
            values[name] = list(chosen)
    for name, column in (("kinds", "kind"), ("statuses", "status")):
        if chosen := getattr(wanted, name):
            where.append(f"list_contains(${name}, {column})")
            values[name] = list(chosen)
    for name, sign in (("since", ">="), ("until", "<")):
        if (moment := getattr(wanted, name)) is not None:
            where.append(f"placed_at {sign} ${name}")
            values[name] = to_utc(moment)
    if text := wanted.text.strip():
        searched = ["name", "note", "array_to_string(tags, ' ')", "array_to_string(methods, ' ')"]
        found = [f"coalesce({_FOUND.format(column)}, false)" for column in searched]
        where.append(f"({' OR '.join(found)} OR coalesce(prompt_matches, false))")
        values["text"] = text
    return " AND ".join(where), values


def _rows(cursor: DuckDBPyConnection, page: Sequence[Mapping[str, Any]]) -> list[HistoryRow]:
    """The lines of a page with their figures, which are computed for these lines only."""
    scope = "run_id IN (SELECT run_id FROM runs WHERE list_contains($group_ids, group_id))"
    cursor.execute(
        f"{_ITEMS.format(matches='false', scope=scope)} "
        "SELECT * FROM items WHERE list_contains($item_ids, item_id)",
        {name: [row[name[:-1]] for row in page] for name in ("item_ids", "group_ids")},
    )
    found = {row["item_id"]: _row(row) for row in rows_of(cursor)}
    return [found[row["item_id"]] for row in page]


def _values(cursor: DuckDBPyConnection, sql: str) -> tuple[str, ...]:
    return tuple(sorted(row[0] for row in cursor.execute(sql).fetchall() if row[0] is not None))


def _row(row: Mapping[str, Any]) -> HistoryRow:
    derived = {
        "item": Item(Kind(row["kind"]), row["item_id"]),
        "title": _title(row),
        "num_requests": int(row["num_requests"] or 0),
        "num_runs": row["num_runs"] or 0,
    }
    shown = {**_shown(row), **derived}
    return HistoryRow(**{field.name: shown[field.name] for field in fields(HistoryRow)})


def _title(row: Mapping[str, Any]) -> str:
    if row["kind"] == Kind.BENCHMARK:
        return f"benchmark of {row['num_runs'] or 0} runs"
    if row["kind"] == Kind.TOOL_RESULT:
        return " · ".join(filter(None, [row["tool"], row["method"], row["k"] and f"K {row['k']}"]))
    method = Method(row["method"]) if row["method"] else None
    options = json.loads(row["options"])
    return RunConfig(EngineKind.EMBEDDED, method, row["k"], options=options).title


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its times in UTC and its lists as tuples, empty ones where they are missing."""
    moments = {name: at.replace(tzinfo=UTC) for name, at in row.items() if isinstance(at, datetime)}
    lists = {name: tuple(row[name] or ()) for name in (*_LISTS, "tags") if name in row}
    return {**row, **moments, **lists}
