"""One record of the tracing plugin: what one engine step drafted, how it was judged, what it gave.

`specviz.servers.vllm.tracing.lines` describes the fields.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.errors import MalformedReply
from specviz.servers import checked
from specviz.trace import Allowed

MAX_DRAFT = 1024
"""Draft tokens of one step."""

MAX_TOP = 100
"""Tokens that are listed per position."""

MAX_REASON = 500
"""Characters of what decided K."""

Top = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """Checked: one entry per drafted token everywhere except in `top`, which has those that were
    judged; the first `num_accepted` of `drafted` are the first of `emitted`."""

    drafted: tuple[int, ...]
    draft_probs: tuple[float | None, ...]
    target_probs: tuple[float | None, ...]
    accept_probs: tuple[float | None, ...]
    u: tuple[float | None, ...]
    top: tuple[Top, ...]
    emitted: tuple[int, ...]
    num_accepted: int
    draft_ms: float | None
    verify_ms: float | None
    wall_ms: float | None
    allowed: Allowed | None = None

    @property
    def ids(self) -> set[int]:
        """Every token id whose text a step needs beyond what was streamed."""
        return {token_id for top in self.top for token_id, _ in top} | set(self.drafted)


def read_record(value: object) -> TraceRecord:
    """Raises MalformedReply where the record cannot be of an engine step."""
    data = checked.json_object(value, "a trace record")
    if "error" in data:
        raise MalformedReply(f"the tracer failed in a step ({checked.shown(data['error'])})")
    drafted = checked.token_ids(data.get("drafted"), "drafted", MAX_DRAFT)
    emitted = checked.token_ids(data.get("emitted"), "emitted", MAX_DRAFT + 1)
    accepted = checked.count(data.get("num_accepted"), "num_accepted", 0, len(drafted))
    if accepted != max(len(emitted) - 1, 0) or (drafted and not emitted):
        raise MalformedReply(f"num_accepted is {accepted}, with {len(emitted)} tokens emitted")
    if drafted[:accepted] != emitted[:accepted]:
        raise MalformedReply("the accepted tokens are not those that were emitted")
    return TraceRecord(
        drafted=drafted,
        draft_probs=_probabilities(data, "draft_probs", len(drafted)),
        target_probs=_probabilities(data, "target_probs", len(drafted)),
        accept_probs=_probabilities(data, "accept_probs", len(drafted)),
        u=_probabilities(data, "u", len(drafted)),
        top=tuple(_top(one) for one in checked.array(data.get("top"), "top", len(drafted))),
        emitted=emitted,
        num_accepted=accepted,
        draft_ms=checked.optional(checked.milliseconds, data.get("draft_ms"), "draft_ms"),
        verify_ms=checked.optional(checked.milliseconds, data.get("verify_ms"), "verify_ms"),
        wall_ms=checked.optional(checked.milliseconds, data.get("wall_ms"), "wall_ms"),
        allowed=checked.optional(_allowed, data.get("allowed"), "allowed"),
    )


def _allowed(value: object, name: str) -> Allowed:
    found = checked.json_object(value, name)
    return Allowed(
        k=checked.count(found.get("k"), name, 0, MAX_DRAFT),
        reason=checked.label(found.get("reason"), name, MAX_REASON),
    )


def _probabilities(data: dict[str, object], name: str, size: int) -> tuple[float | None, ...]:
    values = checked.array(data.get(name), name)
    if len(values) != size:
        raise MalformedReply(f"{name} has {len(values)} entries for {size} draft tokens")
    return tuple([checked.optional(checked.probability, one, name) for one in values])


def _top(value: object) -> Top:
    pairs = [checked.array(pair, "top", 2) for pair in checked.array(value or [], "top", MAX_TOP)]
    if any(len(pair) < 2 for pair in pairs):
        raise MalformedReply("top has an entry without its probability")
    return tuple(
        (checked.count(token_id, "top"), checked.probability(prob, "top"))
        for token_id, prob in pairs
    )
