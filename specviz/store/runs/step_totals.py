"""How long the steps of a run's requests took, without what they drafted."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.analysis.step_time.step_time import StepTotals, step_totals
from specviz.store.runs.runs import rows_of
from specviz.trace import EmittedToken, Fidelity, Lane, Origin, Span, Step, Trace

MOST_REQUESTS = 200
"""Of one run; a mean step does not need more."""

_STEPS = """
    WITH asked AS (
        SELECT request_id, started_at, fidelity FROM requests
        WHERE run_id = ? AND status = 'finished' AND fidelity IS NOT NULL
        ORDER BY started_at, request_id LIMIT ?
    )
    SELECT request_id, asked.fidelity, step_index, elapsed_ms, draft_ms, verify_ms, wall_ms, spans,
        list_transform(emitted, token -> token.origin) AS origins
    FROM steps JOIN asked USING (started_at, request_id)
    ORDER BY started_at, request_id, step_index
"""


def read_step_totals(
    cursor: DuckDBPyConnection, run_id: str, most: int = MOST_REQUESTS
) -> dict[str, StepTotals]:
    """By request, of the first `most` that finished; without those whose steps are unknown."""
    cursor.execute(_STEPS, [run_id, most])
    found = {}
    for request_id, rows in groupby([*rows_of(cursor)], key=itemgetter("request_id")):
        steps = [*rows]
        fidelity = Fidelity(steps[0]["fidelity"])
        totals = step_totals(Trace(request_id, fidelity, tuple(map(_step, steps))))
        if totals is not None:
            found[request_id] = totals
    return found


def _step(row: dict[str, Any]) -> Step:
    return Step(
        index=row["step_index"],
        elapsed_ms=row["elapsed_ms"],
        drafted=(),
        emitted=tuple(EmittedToken(0, None, "", Origin(origin)) for origin in row["origins"]),
        draft_ms=row["draft_ms"],
        verify_ms=row["verify_ms"],
        wall_ms=row["wall_ms"],
        spans=tuple(Span(Lane(one["lane"]), one["start_ms"], one["end_ms"])
                    for one in row["spans"] or ()),
    )  # fmt: skip
