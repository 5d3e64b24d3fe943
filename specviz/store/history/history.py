"""The history: runs, benchmarks and results of other tools in one list, newest first.

Runs that were started together can be one line, a *group*; `prompts.py` has a line per prompt.

Its figures are sums over requests; decisions are never read, so that the list stays fast however
much is stored.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.store.history.filter import (
    CONTAINS_TEXT,
    PROMPT_KEY,
    HistoryFilter,
    asks_requests,
    conditions,
    is_deleted_sql,
)
from specviz.store.history.line import (
    FIGURES,
    LINE_OF_RUNS,
    SERVER,
    HistoryRow,
    Item,
    Kind,
    as_list,
    distinct,
    history_row,
    merged,
)
from specviz.store.runs.runs import rows_of


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
class History:
    """One page of lines, and how many there are on all pages."""

    rows: tuple[HistoryRow, ...]
    total: int


_A_RUN = "run_id"
_A_GROUP = "group_id, deleted_at IS NULL"  # one deleted run leaves the others where they are

_ITEMS = f"""
    WITH answered AS NOT MATERIALIZED (
        SELECT run_id, {{matches}} AS prompt_matches, {{asked}} AS is_of_prompt, {FIGURES}
        FROM requests WHERE status <> 'set aside' AND {{scope}} GROUP BY run_id
    ), cells AS NOT MATERIALIZED (
        SELECT group_id, count(*) AS num_runs, sum(num_requests) AS num_requests,
            {distinct("method")} AS methods, {distinct("model")} AS models,
            {distinct(SERVER)} AS servers, {merged("categories")} AS categories,
            {merged("fidelities")} AS fidelities, bool_or(prompt_matches) AS prompt_matches
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
            {as_list("method")} AS methods, {as_list("model")} AS models,
            {as_list("server")} AS servers, tags, note, num_requests, 0 AS num_runs,
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


def items_sql(values: Container[str], scope: str, *, together: bool = False) -> str:
    """WITH … items: a row per line, with figures of the requests in `scope` (SQL)."""
    return _ITEMS.format(
        matches=f"bool_or({CONTAINS_TEXT.format('prompt')})" if "text" in values else "false",
        asked=f"bool_or({PROMPT_KEY} = $prompt_key)" if "prompt_key" in values else "false",
        scope=scope,
        line=_A_GROUP if together else _A_RUN,
    )


def _rows(
    cursor: DuckDBPyConnection, page: Sequence[Mapping[str, Any]], *, deleted: bool, together: bool
) -> list[HistoryRow]:
    """The lines of a page with their figures, which are computed for these lines only."""
    scope = "run_id IN (SELECT run_id FROM runs WHERE list_contains($group_ids, group_id))"
    cursor.execute(
        f"{items_sql((), scope, together=together)} SELECT * FROM items "
        f"WHERE list_contains($item_ids, item_id) AND {is_deleted_sql(deleted)}",
        {name: [row[name[:-1]] for row in page] for name in ("item_ids", "group_ids")},
    )
    found = {row["item_id"]: history_row(row) for row in rows_of(cursor)}
    return [found[row["item_id"]] for row in page]
