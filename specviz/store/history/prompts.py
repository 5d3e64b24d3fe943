"""The history by prompt: one line per prompt that runs answered, the newest first.

Filters choose runs, and the prompts of these are the lines. Benchmarks are left out: each answers
all its prompts. The prompts of all chosen runs are read, in every order.
"""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from specviz.store.history.filter import PROMPT_KEY, HistoryFilter, asks_requests, conditions
from specviz.store.history.history import ORDERS, History, Order, items_sql
from specviz.store.history.line import FIGURES, LINE_OF_RUNS, history_row
from specviz.store.runs.runs import PROMPT_START_CHARS, rows_of

_ORDERS = ORDERS | {Order.NAME: "lower(prompt_start)"}

_PROMPTS = f"""
    , chosen AS (
        SELECT item_id AS run_id FROM items WHERE kind = 'run' AND {{where}}
    ), answers AS (
        SELECT {PROMPT_KEY} AS prompt_key, run_id, {FIGURES}
        FROM requests SEMI JOIN chosen USING (run_id)
        WHERE status <> 'set aside' GROUP BY ALL
    ), prompts AS (
        SELECT 'prompt' AS kind, prompt_key AS item_id, prompt_key AS group_id, {LINE_OF_RUNS},
            max(started_at) AS newest_at
        FROM runs JOIN answers USING (run_id) GROUP BY prompt_key
    ), lines AS (
        SELECT * REPLACE (newest_at AS started_at, newest_at AS placed_at) FROM prompts
    )
"""


def read_prompt(cursor: DuckDBPyConnection, key: str) -> str | None:
    """The beginning of the prompt with this key; None if no request has it."""
    cursor.execute(
        f"SELECT left(prompt, {PROMPT_START_CHARS}) FROM requests WHERE {PROMPT_KEY} = ? LIMIT 1",
        [key],
    )
    row = cursor.fetchone()
    return row[0] if row else None


def read_prompts(
    cursor: DuckDBPyConnection,
    wanted: HistoryFilter | None = None,
    *,
    order: Order = Order.NEWEST,
    limit: int = 50,
    offset: int = 0,
) -> History:
    """One page of the prompts that runs which match `wanted` answered; figures are those of the
    requests with this prompt."""
    where, values = conditions(wanted or HistoryFilter())
    items = items_sql(values, "true" if asks_requests(values) else "false")
    prompts = items + _PROMPTS.format(where=where)
    total = cursor.execute(f"{prompts} SELECT count(*) FROM lines", values).fetchone()
    cursor.execute(
        f"{prompts} SELECT * FROM lines "
        f"ORDER BY {_ORDERS[order]}, item_id LIMIT {int(limit)} OFFSET {int(offset)}",
        values,
    )
    return History(tuple(map(history_row, rows_of(cursor))), total[0] if total else 0)
