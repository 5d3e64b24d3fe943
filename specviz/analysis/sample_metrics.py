"""The figures of one sample: the same as those of a trace, from counts alone."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.analysis.metrics import Metrics, acceptance_length
from specviz.sample import Sample
from specviz.trace import SpecTotals


def metrics_of(sample: Sample) -> Metrics:
    """The metrics of a finished request; what the server did not report is None."""
    accepted, drafted = sample.per_step_accepted, sample.per_step_drafted
    totals = sample.totals or SpecTotals()
    if accepted is not None and drafted is not None:
        totals = SpecTotals(sum(drafted), sum(accepted), len(drafted))
    num_accepted, num_drafted = totals.num_accepted_tokens, totals.num_draft_tokens
    first = sample.chunk_tokens[0] if sample.chunk_tokens else 1
    output_tokens = sample.output_tokens
    later = None if output_tokens is None else output_tokens - first
    return Metrics(
        num_steps=len(sample.chunk_ms),
        num_drafts=totals.num_drafts,
        num_draft_tokens=num_drafted,
        num_accepted_tokens=num_accepted,
        draft_acceptance_rate=_ratio(num_accepted, num_drafted),
        mean_acceptance_length=acceptance_length(num_accepted, totals.num_drafts),
        alpha=_ratio(num_accepted, _judged(sample)),
        acceptance_rate_per_pos=rates_per_pos(accepted or (), _depths(sample)),
        tokens_per_step=totals.tokens_per_step or _ratio(output_tokens, len(sample.chunk_ms)),
        output_tokens=output_tokens,
        output_throughput=None
        if output_tokens is None
        else _ratio(output_tokens * 1000, sample.e2el_ms),
        ttft_ms=sample.ttft_ms,
        # an answer that came in one read has no time between its tokens
        tpot_ms=_ratio(sample.e2el_ms - sample.ttft_ms or None, later),
        e2el_ms=sample.e2el_ms,
        ttfo_ms=sample.ttfo_ms,
    )


def _judged(sample: Sample) -> int | None:
    """Draft tokens accepted or rejected: of a chain's step what was accepted, and one rejection."""
    if not sample.is_chain:
        return sample.num_judged_tokens
    accepted, drafted = sample.per_step_accepted or (), sample.per_step_drafted or ()
    return sum(accepted) + sum(a < d for a, d in zip(accepted, drafted, strict=True))


def rates_per_pos(accepted: Sequence[int], depths: int) -> tuple[float, ...]:
    """Unconditional acceptance: a step that accepted n tokens counts for depths 1 to n."""
    if not accepted:
        return ()
    return tuple(sum(n > depth for n in accepted) / len(accepted) for depth in range(depths))


def _depths(sample: Sample) -> int:
    """How deep drafts went; of trees only the accepted depth is known."""
    known = sample.per_step_drafted if sample.is_chain else sample.per_step_accepted
    return max(known or (), default=0)


def _ratio(numerator: float | None, denominator: float | None) -> float | None:
    return None if numerator is None or not denominator else numerator / denominator
