"""The figures of one sample: the same as those of a trace, from counts alone."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.analysis.metrics import Metrics
from specviz.sample import Sample


def metrics_of(sample: Sample) -> Metrics:
    """The metrics of a finished request; what the server did not report is None."""
    accepted, drafted = sample.per_step_accepted, sample.per_step_drafted
    reported = accepted is not None and drafted is not None
    steps = list(zip(accepted or (), drafted or (), strict=True))
    num_accepted, num_drafted = sum(accepted or ()), sum(drafted or ())
    first = sample.chunk_tokens[0] if sample.chunk_tokens else 1
    output_tokens = sample.output_tokens
    later = None if output_tokens is None else output_tokens - first
    return Metrics(
        num_steps=len(sample.chunk_ms),
        num_drafts=len(steps) if reported else None,
        num_draft_tokens=num_drafted if reported else None,
        num_accepted_tokens=num_accepted if reported else None,
        draft_acceptance_rate=_ratio(num_accepted, num_drafted),
        mean_acceptance_length=_ratio(num_accepted + len(steps), len(steps)),
        alpha=_ratio(num_accepted, _judged(sample)),
        acceptance_rate_per_pos=rates_per_pos(accepted or (), _depths(sample)),
        tokens_per_step=_ratio(output_tokens, len(sample.chunk_ms)),
        output_tokens=output_tokens,
        output_throughput=None
        if output_tokens is None
        else _ratio(output_tokens * 1000, sample.e2el_ms),
        ttft_ms=sample.ttft_ms,
        # an answer that came in one read has no time between its tokens
        tpot_ms=_ratio(sample.e2el_ms - sample.ttft_ms or None, later),
        e2el_ms=sample.e2el_ms,
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
