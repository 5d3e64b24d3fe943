"""The vocabulary: what happened in one request, as pure frozen data.

An engine yields `Event`s while a request runs: one `RequestStarted`, then `Step`s, possibly one
`StepsRevised` (a server that reports only at the end what it accepted), then `RequestFinished`.
`fold` turns the events, complete or not, into a `Trace`. This module knows nothing of torch,
vLLM, Streamlit or DuckDB.

Names follow vLLM: draft, accepted, recovered, bonus. Probabilities are `target_prob` and
`draft_prob`, never p and q, because papers disagree about which is which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

_HALF = re.compile("[\ud800-\udfff]")

ROOT = -1
"""`TokenDecision.parent` of a draft token that continues the context directly."""


class Verdict(StrEnum):
    """What the verifier decided about one drafted token."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNVERIFIED = "unverified"  # an earlier token was rejected: this one was never judged


class Origin(StrEnum):
    """Where one token of the output came from."""

    ACCEPTED = "accepted"
    RECOVERED = "recovered"  # drawn from the target after a rejection
    BONUS = "bonus"  # drawn from the target after a fully accepted draft
    TARGET = "target"  # nothing was drafted in this step
    UNKNOWN = "unknown"  # the server does not say


class Fidelity(StrEnum):
    """How much the engine let us see."""

    TRACED = "traced"  # draft tokens and probabilities
    COUNTED = "counted"  # exact accepted and drafted counts per step
    INFERRED = "inferred"  # guessed from the sizes of the streamed chunks


class Channel(StrEnum):
    """The part of the output that a token belongs to."""

    ANSWER = "answer"  # the text of the answer
    REASONING = "reasoning"  # thinking before it
    TOOL_CALL = "tool_call"
    REFUSAL = "refusal"
    MARKUP = "markup"  # sets the others apart (`<think>`): the server names it and sends no text


@dataclass(frozen=True, slots=True)
class TopToken:
    """One of the target's most probable tokens at a position."""

    token_id: int
    text: str
    prob: float


@dataclass(frozen=True, slots=True)
class TokenDecision:
    """One drafted token and the verdict on it.

    `depth` counts from 1. `parent` is the index of the parent in `Step.drafted`, `ROOT` for the
    first level; a chain is a tree with one branch. `token_id` and `text` are None when the server
    counts rejected tokens without naming them. `draft_prob` is the drafter's probability of the
    token (1.0 for a lookup without probabilities), `target_prob` the target's after temperature
    and top-p, `accept_prob` what the rule made of them, `u` the random number it was held
    against: the token is accepted if `u <= accept_prob`. At temperature 0 nothing is drawn (`u`
    None) and `accept_prob` is 1 for the target's first choice, 0 otherwise. Of several children
    of one parent each is judged against what its rejected elder siblings left of the target's
    distribution; a candidate that was picked instead of drawn counts as drawn with certainty.
    """

    depth: int
    parent: int
    token_id: int | None
    text: str | None
    verdict: Verdict
    draft_prob: float | None = None
    target_prob: float | None = None
    accept_prob: float | None = None
    u: float | None = None
    target_top: tuple[TopToken, ...] = ()


@dataclass(frozen=True, slots=True)
class EmittedToken:
    """One token of the output.

    `token_id` is None where a server streams text without ids. `text` is decoded cumulatively:
    a token that ends inside a UTF-8 character has the empty text, the one that completes the
    character carries all of it.
    """

    position: int
    token_id: int | None
    text: str
    origin: Origin
    channel: Channel = Channel.ANSWER


class Lane(StrEnum):
    """What kind of work."""

    DRAFT = "draft"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class Span:
    """Work on one lane, in ms since the request was sent; lanes may overlap in time."""

    lane: Lane
    start_ms: float
    end_ms: float


@dataclass(frozen=True, slots=True)
class ExtraBytes:
    """What a method holds in memory beyond plain decoding, in bytes."""

    weights: int = 0
    kv_cache: int = 0
    buffers: int = 0

    @property
    def total(self) -> int:
        return self.weights + self.kv_cache + self.buffers


@dataclass(frozen=True, slots=True)
class SpecTotals:
    """What a server counts for a whole request without saying in which steps; None: not reported.

    `num_drafts` counts the verification steps with a draft; `tokens_per_step` is output tokens /
    engine steps.
    """

    num_draft_tokens: int | None = None
    num_accepted_tokens: int | None = None
    num_drafts: int | None = None
    tokens_per_step: float | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """The most draft tokens that a request could have in a step, and what decided that."""

    k: int
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    """One engine step: what was drafted, what came out, and when (ms since the request was sent).

    `draft_ms`, `verify_ms` and `wall_ms` are None where they cannot be observed; where drafting
    and verification overlap, wall is less than their sum. A lookup that found nothing has a
    `draft_ms`, too, where the engine reports it. `spans` says when each lane worked.
    `skipped_layers` are the target's sublayers that drafting left out (`attention 3`, `mlp 5`,
    counted from 0), None for methods that skip none. `matched_tokens` is how many of the last
    tokens a lookup found again earlier, None for methods that look nothing up. `allowed` is what
    the server's policy said, None where it follows none.
    """

    index: int
    elapsed_ms: float
    drafted: tuple[TokenDecision, ...]
    emitted: tuple[EmittedToken, ...]
    draft_ms: float | None = None
    verify_ms: float | None = None
    wall_ms: float | None = None
    spans: tuple[Span, ...] = ()
    skipped_layers: tuple[str, ...] | None = None
    matched_tokens: int | None = None
    allowed: Allowed | None = None

    @property
    def num_accepted(self) -> int:
        """Draft tokens that the verifier accepted, also those cut off by a stop afterwards."""
        return sum(token.verdict is Verdict.ACCEPTED for token in self.drafted)


@dataclass(frozen=True, slots=True)
class RequestStarted:
    """The engine has taken the request; `fidelity` is what it expects to report."""

    request_id: str
    fidelity: Fidelity


@dataclass(frozen=True, slots=True)
class StepsRevised:
    """Corrected steps, which replace all earlier ones."""

    steps: tuple[Step, ...]
    fidelity: Fidelity
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RequestFinished:
    """The request is complete. Times in ms since the request was sent.

    `extra_bytes` is None where the engine does not report it, `totals` where nothing is counted for
    the whole request or the steps say it all.
    """

    prompt_token_ids: tuple[int, ...]
    ttft_ms: float | None
    e2el_ms: float
    finish_reason: str
    extra_bytes: ExtraBytes | None = None
    totals: SpecTotals | None = None


Event = RequestStarted | Step | StepsRevised | RequestFinished


@dataclass(frozen=True, slots=True)
class Trace:
    """All that is known of one request. `finish_reason` is None while it is incomplete; `revised`
    says why steps were corrected, and is not stored."""

    request_id: str
    fidelity: Fidelity
    steps: tuple[Step, ...] = ()
    prompt_token_ids: tuple[int, ...] = ()
    ttft_ms: float | None = None
    e2el_ms: float | None = None
    finish_reason: str | None = None
    extra_bytes: ExtraBytes | None = None
    totals: SpecTotals | None = None
    revised: str | None = field(default=None, compare=False)

    @property
    def emitted(self) -> tuple[EmittedToken, ...]:
        return tuple(token for step in self.steps for token in step.emitted)

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Ids of the output, without the tokens whose id the server does not report."""
        return tuple(token.token_id for token in self.emitted if token.token_id is not None)

    @property
    def text(self) -> str:
        """The answer's text."""
        return "".join(token.text for token in self.emitted if token.channel is Channel.ANSWER)

    @property
    def side_text(self) -> str:
        """The output beside it: thinking, tool calls, a refusal."""
        return "".join(token.text for token in self.emitted if token.channel is not Channel.ANSWER)


def whole(text: str) -> str:
    """`text` so that it can be stored: two halves of a character (UTF-16 surrogates, as JSON
    escapes them) are joined, a lone one becomes U+FFFD."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def fold(events: Iterable[Event]) -> Trace:
    """Make the trace of the events so far. Raises ValueError unless the first is RequestStarted."""
    trace: Trace | None = None
    steps: list[Step] = []
    for event in events:
        if isinstance(event, RequestStarted):
            trace = Trace(event.request_id, event.fidelity)
        elif trace is None:
            raise ValueError("the first event of a request must be RequestStarted")
        elif isinstance(event, Step):
            steps.append(event)
        elif isinstance(event, StepsRevised):
            steps = list(event.steps)
            trace = replace(trace, fidelity=event.fidelity, revised=event.reason or None)
        else:
            trace = replace(
                trace,
                prompt_token_ids=event.prompt_token_ids,
                ttft_ms=event.ttft_ms,
                e2el_ms=event.e2el_ms,
                finish_reason=event.finish_reason,
                extra_bytes=event.extra_bytes,
                totals=event.totals,
            )
    if trace is None:
        raise ValueError("a request without any event has no trace")
    return replace(trace, steps=tuple(steps))
