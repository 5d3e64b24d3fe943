"""The figures of one trace, under vLLM's names.

A value that the trace cannot support is None, never a guess: a server that only streams text
reports no token counts, one that does not name its drafts reports no acceptance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from specviz.trace import Channel, Fidelity, SpecTotals, Step, Trace, Verdict


@dataclass(frozen=True, slots=True)
class Metrics:
    """Figures of one request. Rates are 0-1, times ms.

    `num_drafts`: verification steps with at least one draft token. `mean_acceptance_length`:
    1 + accepted / drafts, the recovered or bonus token included, as vLLM counts it.
    `tokens_per_step`: output tokens / engine steps, steps without a draft included.
    `alpha`: accepted / tokens actually judged (a token after a rejection never was).
    `acceptance_rate_per_pos[i]`: accepted at depth i + 1 / num_drafts, unconditional. `ttft_ms` is
    the time to the first token of any kind, `ttfo_ms` (AIPerf's name) to the first of the answer's
    text: a thinking model's comes later.
    """

    num_steps: int
    num_drafts: int | None
    num_draft_tokens: int | None
    num_accepted_tokens: int | None
    draft_acceptance_rate: float | None
    mean_acceptance_length: float | None
    alpha: float | None
    acceptance_rate_per_pos: tuple[float, ...]
    tokens_per_step: float | None
    output_tokens: int | None
    output_throughput: float | None
    ttft_ms: float | None
    tpot_ms: float | None
    e2el_ms: float | None
    ttfo_ms: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; the keys are the field names."""
        return {**asdict(self), "acceptance_rate_per_pos": list(self.acceptance_rate_per_pos)}


def summarise(trace: Trace) -> Metrics:
    """The metrics of a trace, finished or still running.

    Where the steps are inferred, drafted and accepted tokens are the server's totals, if it has
    any: they say how much was accepted, but not where.
    """
    drafting = [step for step in trace.steps if step.drafted]
    is_inferred = trace.fidelity is Fidelity.INFERRED
    totals = (trace.totals or SpecTotals()) if is_inferred else _totals(drafting)
    drafted, accepted, drafts = (
        totals.num_draft_tokens,
        totals.num_accepted_tokens,
        totals.num_drafts,
    )
    output_tokens = count_output_tokens(trace)
    # a step that emits nothing holds a draft whose place the server does not report
    num_steps = sum(bool(step.emitted) for step in trace.steps)
    e2el_ms = trace.e2el_ms if trace.e2el_ms is not None else _last_elapsed(trace.steps)
    ttft_ms = trace.ttft_ms if trace.ttft_ms is not None else _first_elapsed(trace.steps)
    return Metrics(
        num_steps=num_steps,
        num_drafts=drafts,
        num_draft_tokens=drafted,
        num_accepted_tokens=accepted,
        draft_acceptance_rate=_ratio(accepted, drafted),
        mean_acceptance_length=acceptance_length(accepted, drafts),
        alpha=None if is_inferred else _ratio(accepted, count_judged(drafting)),
        acceptance_rate_per_pos=() if is_inferred else acceptance_rate_per_pos(drafting),
        tokens_per_step=totals.tokens_per_step or _ratio(output_tokens, num_steps),
        output_tokens=output_tokens,
        output_throughput=_per_second(output_tokens, e2el_ms),
        ttft_ms=ttft_ms,
        tpot_ms=_tpot_ms(trace.steps, output_tokens, ttft_ms, e2el_ms),
        e2el_ms=e2el_ms,
        ttfo_ms=_first_of_answer(trace, ttft_ms),
    )


def acceptance_length(accepted: int | None, drafts: int | None) -> float | None:
    """1 + accepted / drafts, as vLLM counts it; None without either or before the first draft."""
    return None if accepted is None or not drafts else (accepted + drafts) / drafts


def _totals(drafting: Sequence[Step]) -> SpecTotals:
    """The sums of steps that are known."""
    return SpecTotals(
        num_draft_tokens=sum(len(step.drafted) for step in drafting),
        num_accepted_tokens=sum(step.num_accepted for step in drafting),
        num_drafts=len(drafting),
    )


def count_judged(drafting: Sequence[Step]) -> int:
    """Draft tokens that the target accepted or rejected; one rejection per step in a chain."""
    return sum(
        token.verdict is not Verdict.UNVERIFIED for step in drafting for token in step.drafted
    )


def acceptance_rate_per_pos(drafting: Sequence[Step]) -> tuple[float, ...]:
    """Unconditional acceptance by depth: accepted at that depth / steps that drafted.

    In a tree at most one token per depth is accepted, so the definition carries over.
    """
    depths = max((token.depth for step in drafting for token in step.drafted), default=0)
    accepted = [0] * depths
    for step in drafting:
        for token in step.drafted:
            accepted[token.depth - 1] += token.verdict is Verdict.ACCEPTED
    return tuple(count / len(drafting) for count in accepted)


def count_output_tokens(trace: Trace) -> int | None:
    """Output tokens counted by id, or by the server; None where it streams text without either."""
    emitted = trace.emitted
    counted = trace.fidelity is Fidelity.COUNTED
    return len(emitted) if counted or all(token.token_id is not None for token in emitted) else None


def _tpot_ms(
    steps: Sequence[Step],
    output_tokens: int | None,
    ttft_ms: float | None,
    e2el_ms: float | None,
) -> float | None:
    """(e2el - ttft) / tokens after the first chunk; the first chunk may hold more than one."""
    if output_tokens is None or ttft_ms is None or e2el_ms is None:
        return None
    first_chunk = sum(len(step.emitted) for step in steps if step.elapsed_ms <= ttft_ms)
    return _ratio(e2el_ms - ttft_ms, output_tokens - first_chunk)


def _first_elapsed(steps: Sequence[Step]) -> float | None:
    return next((step.elapsed_ms for step in steps if step.emitted), None)


def _first_of_answer(trace: Trace, ttft_ms: float | None) -> float | None:
    """A step ends with its last token; the first step's own time is that of the first token."""
    for step in trace.steps:
        if any(token.channel is Channel.ANSWER and token.text for token in step.emitted):
            is_first = step.elapsed_ms == _first_elapsed(trace.steps)
            return ttft_ms if is_first else step.elapsed_ms
    return None


def _last_elapsed(steps: Sequence[Step]) -> float | None:
    return steps[-1].elapsed_ms if steps else None


def _per_second(tokens: int | None, ms: float | None) -> float | None:
    return None if tokens is None or not ms else tokens / ms * 1000


def _ratio(numerator: float | None, denominator: float | None) -> float | None:
    return None if numerator is None or not denominator else numerator / denominator
