"""One timed request as a benchmark keeps it: chunks and counts, not every decision.

Traces show decisions, samples give timings: a sample costs the client little while the server
is measured, and thousands of them stay small in the store.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.trace import Fidelity, SpecTotals


@dataclass(frozen=True, slots=True)
class LaneTimes:
    """How long one request drafted and verified behind its first step, ms in all.

    `draft_ms` is time at which nothing but drafting ran; drafting while the target verified is in
    `overlapped_draft_ms`, and that time is in `verify_ms`, too.
    """

    draft_ms: float
    overlapped_draft_ms: float
    verify_ms: float


@dataclass(frozen=True, slots=True)
class Sample:
    """What one request reported. Times in ms since the request was sent.

    `chunk_ms[i]` is when chunk i arrived and `chunk_tokens[i]` how many tokens it held: one chunk
    is one engine step, or several that the server merged, never "one token". `token_ids` and
    `chunk_tokens` are empty where the server streams text without ids; `output_tokens` is then its
    own count (`usage`), or None. `per_step_accepted` and `per_step_drafted` have one entry per
    verification step that drafted something (vLLM's names); both are None where the server does
    not report them and empty where nothing was drafted. `is_chain`: a step's draft is one sequence,
    so that everything after the first rejection was never judged. In a tree several tokens of a
    step may be rejected: `num_judged_tokens` counts the accepted and rejected ones of all steps,
    None where the engine does not report them and for a chain, where they follow from the steps.
    `totals` are the server's counts for the whole request, None where it has none or the steps say
    it all. `lanes` is None where the engine does not report how long it drafts and verifies. `text`
    is the answer's, `side_text` the output beside it (thinking, tool calls, a refusal); `ttfo_ms`
    is when the answer's text began, None where it has none.
    """

    request_id: str
    fidelity: Fidelity
    text: str
    finish_reason: str
    ttft_ms: float
    e2el_ms: float
    chunk_ms: tuple[float, ...]
    chunk_tokens: tuple[int, ...] = ()
    token_ids: tuple[int, ...] = ()
    output_tokens: int | None = None
    prompt_tokens: int | None = None
    per_step_accepted: tuple[int, ...] | None = None
    per_step_drafted: tuple[int, ...] | None = None
    is_chain: bool = True
    num_judged_tokens: int | None = None
    totals: SpecTotals | None = None
    lanes: LaneTimes | None = None
    side_text: str = ""
    ttfo_ms: float | None = None
