"""What a result of another tool reports about its drafts."""

from __future__ import annotations

import json
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.analysis.acceptance.counts import Counts, RequestCounts
from specviz.errors import StoreError
from specviz.trace import EmittedToken, Origin, Step, TokenDecision, Verdict

_TOTALS = "num_drafts, num_draft_tokens, num_accepted_tokens, output_tokens"


def read_drafts(cursor: DuckDBPyConnection, elsewhere_id: str) -> tuple[dict[str, Any], Counts]:
    """The tool's document and the counts of its drafts. Raises StoreError if there is none.

    Requests are only those of a file that lists them one by one, without those that failed.
    """
    cursor.execute(
        f"SELECT document, {_TOTALS}, acceptance_rate_per_pos, num_requests FROM elsewhere "
        "WHERE elsewhere_id = ?",
        [elsewhere_id],
    )
    row = cursor.fetchone()
    if row is None:
        raise StoreError(f"There are no results {elsewhere_id} in the database.")
    document, drafts, drafted, accepted, output, rates, num_requests = row
    cursor.execute(
        f"SELECT {_TOTALS}, len(gaps_ms) + 1 FROM elsewhere_requests "
        "WHERE elsewhere_id = ? AND error IS NULL ORDER BY request_index",
        [elsewhere_id],
    )
    requests = tuple(RequestCounts(*one) for one in cursor.fetchall())
    each = requests if num_requests is not None else ()
    counts = Counts(drafts, drafted, accepted, output, tuple(rates or ()), each)
    return json.loads(document), counts


def read_logged_steps(
    cursor: DuckDBPyConnection, elsewhere_id: str, request_index: int
) -> list[dict[str, Any]]:
    """The drafting steps of one request, as in the column `steps`; empty where it has none.

    Raises StoreError if there is no such request.
    """
    cursor.execute(
        "SELECT steps FROM elsewhere_requests WHERE elsewhere_id = ? AND request_index = ?",
        [elsewhere_id, request_index],
    )
    row = cursor.fetchone()
    if row is None:
        raise StoreError(f"The results {elsewhere_id} have no request {request_index}.")
    return list(row[0] or ())


def replayed(steps: list[dict[str, Any]]) -> tuple[Step, ...] | None:
    """Logged steps as the strip shows them; None unless each names all its tokens.

    Such a log has ids and no text, so a token is called by its id. A step without a time takes that
    of the step before it.
    """
    if not steps or any(
        step["draft_token_ids"] is None or step["next_token_id"] is None for step in steps
    ):
        return None
    found: list[Step] = []
    position, elapsed_ms = 0, 0.0
    for step in steps:
        elapsed_ms = elapsed_ms if step["elapsed_ms"] is None else step["elapsed_ms"]
        drafted = tuple(_decision(step, place) for place in range(step["num_draft_tokens"]))
        ids = [*step["draft_token_ids"][: step["num_accepted_tokens"]], step["next_token_id"]]
        origins = [Origin.ACCEPTED] * step["num_accepted_tokens"] + [_last_origin(step)]
        emitted = tuple(
            EmittedToken(position + place, token_id, named(token_id), origin)
            for place, (token_id, origin) in enumerate(zip(ids, origins, strict=True))
        )
        found.append(Step(len(found), elapsed_ms, drafted, emitted))
        position += len(emitted)
    return tuple(found)


def named(token_id: int) -> str:
    """A token without a text."""
    return f"[{token_id}]"


def _decision(step: dict[str, Any], place: int) -> TokenDecision:
    accepted = step["num_accepted_tokens"]
    verdict = (
        Verdict.ACCEPTED
        if place < accepted
        else Verdict.REJECTED
        if place == accepted
        else Verdict.UNVERIFIED
    )
    token_id = step["draft_token_ids"][place]
    probs = step["draft_probs"]
    return TokenDecision(
        depth=place + 1,
        parent=place - 1,
        token_id=token_id,
        text=named(token_id),
        verdict=verdict,
        draft_prob=probs[place] if probs else None,
    )


def _last_origin(step: dict[str, Any]) -> Origin:
    if step["num_draft_tokens"] == 0:
        return Origin.TARGET
    whole = step["num_accepted_tokens"] == step["num_draft_tokens"]
    return Origin.BONUS if whole else Origin.RECOVERED
