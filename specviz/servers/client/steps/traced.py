"""Steps from the tracing plugin's records: every drafted token with its probabilities."""

from __future__ import annotations

from collections.abc import Callable

from specviz.servers.client.tape import TokenTape, origins_of_step, verdict_at
from specviz.servers.trace_record import TraceRecord
from specviz.trace import ROOT, Step, TokenDecision, TopToken, Verdict

TextOf = Callable[[int], str]
"""Token id → its text."""


def traced_step(
    record: TraceRecord, index: int, start: int, tape: TokenTape, text_of: TextOf
) -> Step:
    """The step that a trace record describes, laid over the tape from position `start`.

    Tokens that the verifier emitted but a stop condition cut off are not on the tape and so not
    in `emitted`; the decisions are complete.
    """
    origins = origins_of_step(len(record.drafted), record.num_accepted)
    return Step(
        index=index,
        elapsed_ms=tape.elapsed_ms(start + len(record.emitted)),
        drafted=tuple(_decision(record, at, text_of) for at in range(len(record.drafted))),
        emitted=tape.emitted(start, origins[: len(record.emitted)]),
        draft_ms=record.draft_ms,
        verify_ms=record.verify_ms,
        wall_ms=record.wall_ms,
        allowed=record.allowed,
    )


def _decision(record: TraceRecord, position: int, text_of: TextOf) -> TokenDecision:
    verdict = verdict_at(position, record.num_accepted)
    token_id = record.drafted[position]
    judged = verdict is not Verdict.UNVERIFIED
    top = record.top[position] if judged and position < len(record.top) else ()
    return TokenDecision(
        depth=position + 1,
        parent=position - 1 if position else ROOT,
        token_id=token_id,
        text=text_of(token_id),
        verdict=verdict,
        draft_prob=record.draft_probs[position],
        target_prob=record.target_probs[position] if judged else None,
        accept_prob=record.accept_probs[position] if judged else None,
        u=record.u[position] if judged else None,
        target_top=tuple(TopToken(top_id, text_of(top_id), prob) for top_id, prob in top),
    )
