"""Steps and decisions as Arrow tables: what a batch of events adds to the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from specviz.trace import Channel, EmittedToken, Span, Step, TokenDecision, whole

Row = dict[str, Any]

CLOSE = 1e-6
"""Further apart than this, two numbers up to 1 differ in 32 bits."""

_EMITTED = pa.struct(
    [
        ("position", pa.int32()),
        ("token_id", pa.int32()),
        ("text", pa.string()),
        ("origin", pa.string()),
    ]
)
_SPAN = pa.struct([("lane", pa.string()), ("start_ms", pa.float64()), ("end_ms", pa.float64())])
_ALLOWED = pa.struct([("k", pa.int32()), ("reason", pa.string())])
_TOP = pa.struct([("token_id", pa.int32()), ("text", pa.string()), ("prob", pa.float32())])

STEPS = pa.schema(
    [
        ("started_at", pa.timestamp("us")),
        ("request_id", pa.string()),
        ("step_index", pa.int32()),
        ("elapsed_ms", pa.float64()),
        ("draft_ms", pa.float32()),
        ("verify_ms", pa.float32()),
        ("wall_ms", pa.float32()),
        ("emitted", pa.list_(_EMITTED)),
        ("spans", pa.list_(_SPAN)),
        ("skipped_layers", pa.list_(pa.string())),
        ("matched_tokens", pa.int32()),
        ("allowed", _ALLOWED),
        ("channels", pa.list_(pa.string())),
    ]
)
DECISIONS = pa.schema(
    [
        ("started_at", pa.timestamp("us")),
        ("request_id", pa.string()),
        ("step_index", pa.int32()),
        ("draft_index", pa.int16()),
        ("depth", pa.int16()),
        ("parent", pa.int16()),
        ("token_id", pa.int32()),
        ("text", pa.string()),
        ("verdict", pa.string()),
        ("draft_prob", pa.float32()),
        ("target_prob", pa.float32()),
        ("accept_prob", pa.float32()),
        ("u", pa.float32()),
        ("target_top", pa.list_(_TOP)),
    ]
)


def step_table(request_id: str, started_at: datetime, steps: Sequence[Step]) -> pa.Table:
    """One row per step; `started_at` in UTC without zone.

    Raises ValueError or TypeError for a value of the wrong type.
    """
    rows = [
        {
            "started_at": started_at,
            "request_id": request_id,
            "step_index": step.index,
            "elapsed_ms": step.elapsed_ms,
            "draft_ms": step.draft_ms,
            "verify_ms": step.verify_ms,
            "wall_ms": step.wall_ms,
            "emitted": [_emitted(token) for token in step.emitted],
            "spans": [_span(span) for span in step.spans],
            "skipped_layers": step.skipped_layers,
            "matched_tokens": step.matched_tokens,
            "allowed": step.allowed and asdict(step.allowed),
            "channels": _channels(step.emitted),
        }
        for step in steps
    ]
    return pa.Table.from_pylist(rows, schema=STEPS)


def decision_table(request_id: str, started_at: datetime, steps: Sequence[Step]) -> pa.Table:
    """One row per drafted token, its probabilities in 32 bits.

    Raises ValueError or TypeError for a value of the wrong type.
    """
    rows = [
        {
            "started_at": started_at,
            "request_id": request_id,
            "step_index": step.index,
            "draft_index": draft_index,
            **_decision(decision),
        }
        for step in steps
        for draft_index, decision in enumerate(step.drafted)
    ]
    return pa.Table.from_pylist(rows, schema=DECISIONS)


# Written out, because dataclasses.asdict takes ten times as long and these are many.


def _emitted(token: EmittedToken) -> Row:
    return {
        "position": token.position,
        "token_id": token.token_id,
        "text": whole(token.text),
        "origin": token.origin.value,
    }


def _channels(emitted: Sequence[EmittedToken]) -> list[str] | None:
    if all(token.channel is Channel.ANSWER for token in emitted):
        return None
    return [token.channel.value for token in emitted]


def _decision(token: TokenDecision) -> Row:
    return {
        "depth": token.depth,
        "parent": token.parent,
        "token_id": token.token_id,
        "text": None if token.text is None else whole(token.text),
        "verdict": token.verdict.value,
        "draft_prob": token.draft_prob,
        "target_prob": token.target_prob,
        "accept_prob": _below(token.accept_prob, token.u),
        "u": token.u,
        "target_top": [
            {"token_id": top.token_id, "text": whole(top.text), "prob": top.prob}
            for top in token.target_top
        ],
    }


def _below(accept_prob: float | None, u: float | None) -> float | None:
    """`accept_prob` so that `u <= accept_prob` holds in 32 bits if it did in 64: vLLM draws 64.

    Rounding keeps the order, but may make a rejected token's two numbers equal.
    """
    if accept_prob is None or u is None or not 0.0 < u - accept_prob < CLOSE:
        return accept_prob
    rounded = np.float32(accept_prob)
    return float(np.nextafter(rounded, np.float32(0))) if np.float32(u) == rounded else accept_prob


def _span(span: Span) -> Row:
    return {"lane": span.lane.value, "start_ms": span.start_ms, "end_ms": span.end_ms}
