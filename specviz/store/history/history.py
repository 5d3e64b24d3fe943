"""The history: runs, benchmarks and results of other tools in one list, newest first.

Runs that were started together can be one line, a *group*; `prompts.py` has a line per prompt.

Its figures are sums over requests; decisions are never read, so that the list stays fast however
much is stored.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
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
    """What a line of the history is. Groups and prompts are stored as their runs only."""

    RUN = "run"
    GROUP = "group"  # runs that were started together
    PROMPT = "prompt"  # runs that answered the same prompt
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
    """Identifies a line: its kind and its id in the table of that kind. The id of a group is
    `group_id` of its runs, that of a prompt its `prompt_key`."""

    kind: Kind
    item_id: str


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run, group of runs, prompt, benchmark or result of another tool.

    `name` was given by a person, else None; `title` describes it. `started_at` is None where
    another tool's file has none, that of a group is its first run's, of a prompt its newest run's.
    `status`: all that its runs have. Methods, models, servers, categories, fidelities and tags are
    those of all its runs, in alphabetical order. `num_runs`: 0 for other tools. `run_ids`: the runs
    that the line stands for, in the order they were started; none for a benchmark.
    `draft_acceptance_rate`: accepted / draft tokens of all requests, `tokens_per_step` likewise,
    `output_throughput`: of one stream, not of the server. Of several runs, the highest of each; all
    three are None for a benchmark, whose cells differ in more than the arm.
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
    run_ids: tuple[str, ...]
    draft_acceptance_rate: float | None
    tokens_per_step: float | None
    output_throughput: float | None
    imported_at: datetime | None
    deleted_at: datetime | None

    @property
    def label(self) -> str:
        """Its name in a list."""
        return self.name or self.title

    @property
    def items(self) -> tuple[Item, ...]:
        """What is stored of it: what is named, tagged, deleted, exported."""
        if self.item.kind in (Kind.GROUP, Kind.PROMPT):
            return tuple(Item(Kind.RUN, run_id) for run_id in self.run_ids)
        return (self.item,)


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which lines to list. An empty tuple matches everything; of several values one is enough.
    `text` is searched in names, notes, tags, methods and prompts, ignoring case. Of a group it is
    enough if one of its runs has it. Times have a zone; a line is within them by its start, or by
    its import if the start is unknown. `prompt_key`: only runs that answered this prompt."""

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
    prompt_key: str = ""
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


_SERVER = f"CASE WHEN engine = 'embedded' THEN '{IN_THE_APP}' ELSE server_url END"


def _distinct(value: str) -> str:
    """SQL: the different values of a group without the missing ones."""
    return f"list_sort(list(DISTINCT {value}) FILTER ({value} IS NOT NULL))"


def _one(value: str) -> str:
    """SQL: a list of the value, empty where it is missing."""
    return f"CASE WHEN {value} IS NULL THEN []::VARCHAR[] ELSE [{value}] END"


def _all(lists: str) -> str:
    """SQL: the different values in the lists of a group."""
    return f"list_sort(list_distinct(flatten(list(coalesce({lists}, [])))))"


PROMPT_KEY = "md5(prompt)"
"""SQL: what identifies a prompt in an address."""

FIGURES = f"""
    count(*) AS num_requests, {_distinct("category")} AS categories,
    {_distinct("fidelity")} AS fidelities,
    arg_min(left(prompt, {PROMPT_START_CHARS}), started_at) AS prompt_start,
    sum(num_accepted_tokens) / nullif(sum(num_draft_tokens), 0) AS draft_acceptance_rate,
    sum(output_tokens) / nullif(
        sum(num_steps) FILTER (output_tokens IS NOT NULL), 0) AS tokens_per_step,
    sum(output_tokens) * 1000 / nullif(
        sum(e2el_ms) FILTER (output_tokens IS NOT NULL), 0) AS output_throughput
"""
"""SQL: columns of some requests of one run."""

_AS_STARTED = "ORDER BY started_at, run_id"

LINE_OF_RUNS = f"""
    first(name {_AS_STARTED}) FILTER (name IS NOT NULL) AS name,
    string_agg(DISTINCT name, chr(10)) AS names, first(method {_AS_STARTED}) AS method,
    list(struct_pack(method, k, options) {_AS_STARTED}) AS arms,
    min(started_at) AS started_at, min(started_at) AS placed_at,
    {_distinct("status")} AS statuses, {_distinct("method")} AS methods,
    {_distinct("model")} AS models, {_distinct(_SERVER)} AS servers,
    {_all("categories")} AS categories, {_all("fidelities")} AS fidelities,
    {_all("tags")} AS tags, string_agg(DISTINCT note, chr(10) ORDER BY note) AS note,
    first(prompt_start {_AS_STARTED}) FILTER (prompt_start IS NOT NULL) AS prompt_start,
    sum(num_requests) AS num_requests, count(*) AS num_runs, list(run_id {_AS_STARTED}) AS run_ids,
    max(draft_acceptance_rate) AS draft_acceptance_rate,
    max(tokens_per_step) AS tokens_per_step, max(output_throughput) AS output_throughput,
    max(imported_at) AS imported_at, max(deleted_at) AS deleted_at
"""
"""SQL: columns of a line that stands for rows of runs, each with its `FIGURES`."""

_A_RUN = "run_id"
_A_GROUP = "group_id, deleted_at IS NULL"  # one deleted run leaves the others where they are

_ITEMS = f"""
    WITH answered AS NOT MATERIALIZED (
        SELECT run_id, {{matches}} AS prompt_matches, {{asked}} AS is_of_prompt, {FIGURES}
        FROM requests WHERE status <> 'set aside' AND {{scope}} GROUP BY run_id
    ), cells AS NOT MATERIALIZED (
        SELECT group_id, count(*) AS num_runs, sum(num_requests) AS num_requests,
            {_distinct("method")} AS methods, {_distinct("model")} AS models,
            {_distinct(_SERVER)} AS servers, {_all("categories")} AS categories,
            {_all("fidelities")} AS fidelities, bool_or(prompt_matches) AS prompt_matches
        FROM runs SEMI JOIN benchmarks ON runs.group_id = benchmarks.benchmark_id
            LEFT JOIN answered USING (run_id)
        GROUP BY group_id
    ), items AS (
        SELECT if(count(*) > 1, 'group', 'run') AS kind,
            if(count(*) > 1, any_value(group_id), any_value(run_id)) AS item_id,
            any_value(group_id) AS group_id, bool_or(prompt_matches) AS prompt_matches,
            bool_or(is_of_prompt) AS is_of_prompt, {LINE_OF_RUNS}
        FROM runs ANTI JOIN benchmarks ON runs.group_id = benchmarks.benchmark_id
            LEFT JOIN answered USING (run_id)
        GROUP BY {{line}}
        UNION ALL BY NAME
        SELECT 'benchmark' AS kind, benchmark_id AS item_id, benchmark_id AS group_id, name,
            name AS names, started_at, started_at AS placed_at, [status] AS statuses, methods,
            models, servers, categories, fidelities, tags, note, prompt_matches, num_requests,
            num_runs, imported_at, deleted_at
        FROM benchmarks LEFT JOIN cells ON cells.group_id = benchmark_id
        UNION ALL BY NAME
        SELECT 'elsewhere' AS kind, elsewhere_id AS item_id, elsewhere_id AS group_id, name,
            name AS names, method, k, tool, started_at,
            coalesce(started_at, imported_at) AS placed_at,
            {_one("method")} AS methods, {_one("model")} AS models, {_one("server")} AS servers,
            tags, note, num_requests, 0 AS num_runs,
            draft_acceptance_rate, imported_at, deleted_at
        FROM elsewhere
    )
"""

ORDERS = {
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
_KIND = "if(kind = 'group', 'run', kind)"  # a group is found as what it is made of
_FOUND = "contains(lower({}), lower($text))"
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
    together: bool = False,
    order: Order = Order.NEWEST,
    limit: int = 50,
    offset: int = 0,
) -> History:
    """One page of the lines that match `wanted`. A benchmark is one line, without its runs, and so
    are runs that were started together, if they are wanted `together`."""
    wanted = wanted or HistoryFilter()
    where, values = conditions(wanted)
    reads_requests = asks_requests(values) or order in _OF_REQUESTS
    found = f"FROM items WHERE {where}"
    items = items_sql(values, "true" if reads_requests else "false", together=together)
    # not count(*) OVER (): with UNION ALL it crashes DuckDB now and then (duckdb#22352)
    total = cursor.execute(f"{items} SELECT count(*) {found}", values).fetchone()
    cursor.execute(
        f"{items} SELECT item_id, group_id {found} "
        f"ORDER BY {ORDERS[order]}, item_id LIMIT {int(limit)} OFFSET {int(offset)}",
        values,
    )
    page = list(rows_of(cursor))
    rows = _rows(cursor, page, deleted=wanted.deleted, together=together)
    return History(tuple(rows), total[0] if total else 0)


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


def conditions(wanted: HistoryFilter) -> tuple[str, dict[str, Any]]:
    """The WHERE clause and the values it names."""
    where = [_deleted(wanted.deleted)]
    values: dict[str, Any] = {}
    for name in (*_LISTS, "tags", "statuses"):
        if chosen := getattr(wanted, name):
            where.append(f"list_has_any(coalesce({name}, []), ${name})")
            values[name] = list(chosen)
    if wanted.kinds:
        where.append(f"list_contains($kinds, {_KIND})")
        values["kinds"] = list(wanted.kinds)
    for name, sign in (("since", ">="), ("until", "<")):
        if (moment := getattr(wanted, name)) is not None:
            where.append(f"placed_at {sign} ${name}")
            values[name] = to_utc(moment)
    if text := wanted.text.strip():
        searched = ["names", "note", "array_to_string(tags, ' ')", "array_to_string(methods, ' ')"]
        found = [f"coalesce({_FOUND.format(column)}, false)" for column in searched]
        where.append(f"({' OR '.join(found)} OR coalesce(prompt_matches, false))")
        values["text"] = text
    if wanted.prompt_key:
        where.append("coalesce(is_of_prompt, false)")
        values["prompt_key"] = wanted.prompt_key
    return " AND ".join(where), values


def asks_requests(values: Container[str]) -> bool:
    """Whether a filter with these values cannot be answered without reading requests."""
    return any(name in values for name in ("categories", "fidelities", "text", "prompt_key"))


def items_sql(values: Container[str], scope: str, *, together: bool = False) -> str:
    """WITH … items: a row per line, with figures of the requests in `scope` (SQL)."""
    return _ITEMS.format(
        matches=f"bool_or({_FOUND.format('prompt')})" if "text" in values else "false",
        asked=f"bool_or({PROMPT_KEY} = $prompt_key)" if "prompt_key" in values else "false",
        scope=scope,
        line=_A_GROUP if together else _A_RUN,
    )


def _deleted(is_deleted: bool) -> str:
    return f"deleted_at IS {'NOT ' if is_deleted else ''}NULL"


def _rows(
    cursor: DuckDBPyConnection, page: Sequence[Mapping[str, Any]], *, deleted: bool, together: bool
) -> list[HistoryRow]:
    """The lines of a page with their figures, which are computed for these lines only."""
    scope = "run_id IN (SELECT run_id FROM runs WHERE list_contains($group_ids, group_id))"
    cursor.execute(
        f"{items_sql((), scope, together=together)} "
        f"SELECT * FROM items WHERE list_contains($item_ids, item_id) AND {_deleted(deleted)}",
        {name: [row[name[:-1]] for row in page] for name in ("item_ids", "group_ids")},
    )
    found = {row["item_id"]: history_row(row) for row in rows_of(cursor)}
    return [found[row["item_id"]] for row in page]


def _values(cursor: DuckDBPyConnection, sql: str) -> tuple[str, ...]:
    return tuple(sorted(row[0] for row in cursor.execute(sql).fetchall() if row[0] is not None))


def history_row(row: Mapping[str, Any]) -> HistoryRow:
    """A line from its row of `items`."""
    derived = {
        "item": Item(Kind(row["kind"]), row["item_id"]),
        "title": _title(row),
        "status": ", ".join(row["statuses"] or ()) or None,
        "num_requests": int(row["num_requests"] or 0),
        "num_runs": row["num_runs"] or 0,
        "run_ids": tuple(row["run_ids"] or ()),
    }
    values = {**shown(row), **derived}
    return HistoryRow(**{field.name: values[field.name] for field in fields(HistoryRow)})


def shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its times in UTC and its lists as tuples, empty ones where they are missing."""
    moments = {name: at.replace(tzinfo=UTC) for name, at in row.items() if isinstance(at, datetime)}
    lists = {name: tuple(row[name] or ()) for name in (*_LISTS, "tags") if name in row}
    return {**row, **moments, **lists}


def _title(row: Mapping[str, Any]) -> str:
    if row["kind"] == Kind.BENCHMARK:
        return f"benchmark of {row['num_runs'] or 0} runs"
    if row["kind"] == Kind.TOOL_RESULT:
        return " · ".join(filter(None, [row["tool"], row["method"], row["k"] and f"K {row['k']}"]))
    return ", ".join(dict.fromkeys(map(_arm_title, row["arms"])))


def _arm_title(arm: Mapping[str, Any]) -> str:
    method = Method(arm["method"]) if arm["method"] else None
    options = json.loads(arm["options"])
    return RunConfig(EngineKind.EMBEDDED, method, arm["k"], options=options).title
