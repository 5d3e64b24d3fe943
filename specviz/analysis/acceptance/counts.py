"""What is known of the drafts behind a figure, and what the definitions make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from specviz.analysis.acceptance import definitions as d


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """One request: `num_drafts` steps that drafted `num_draft_tokens`; None: not reported."""

    num_drafts: int | None
    num_draft_tokens: int | None
    num_accepted_tokens: int | None
    output_tokens: int | None = None
    chunks: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """All requests together, and each one where it is known. None: not reported.

    `rates` are accepted at position 1, 2, … / drafting steps.
    """

    num_drafts: int | None = None
    num_draft_tokens: int | None = None
    num_accepted_tokens: int | None = None
    output_tokens: int | None = None
    rates: tuple[float, ...] = ()
    requests: tuple[RequestCounts, ...] = ()


def summed(requests: Sequence[RequestCounts], rates: Sequence[float] = ()) -> Counts:
    """Counts of all requests from those of each; a sum is None if a request does not report it."""
    return Counts(
        num_drafts=_sum([one.num_drafts for one in requests]),
        num_draft_tokens=_sum([one.num_draft_tokens for one in requests]),
        num_accepted_tokens=_sum([one.num_accepted_tokens for one in requests]),
        output_tokens=_sum([one.output_tokens for one in requests]),
        rates=tuple(rates),
        requests=tuple(requests),
    )


@dataclass(frozen=True, slots=True)
class Computed:
    """A figure, or in `lacks` what would be needed for it."""

    value: float | None
    lacks: str = ""


def computed(counts: Counts) -> dict[str, Computed]:
    """Every definition by key: what the counts give under it."""
    return {key: _compute(counts, formula, lacks) for key, (formula, lacks) in _FORMULAS.items()}


def conditional(rates: Sequence[float]) -> list[float | None]:
    """From unconditional rates by position; None where no step got there."""
    before = [1.0, *rates]
    return [rate / last if last else None for last, rate in zip(before, rates, strict=False)]


Formula = Callable[[Counts], float | None]


def _compute(counts: Counts, formula: Formula, lacks: str) -> Computed:
    value = formula(counts)
    return Computed(value, "" if value is not None else lacks)


def _mean(one: Callable[[RequestCounts], float | None]) -> Formula:
    """Over the requests that drafted anything; None if one of them does not report enough."""

    def mean(counts: Counts) -> float | None:
        drafting = [request for request in counts.requests if request.num_drafts != 0]
        values = [one(request) for request in drafting]
        known = [value for value in values if value is not None]
        return fmean(known) if known and len(known) == len(values) else None

    return mean


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _plus(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left + right


def _accepted(of: RequestCounts | Counts) -> float | None:
    """Accepted draft tokens per step; from the rates, which add up to it, where they are all."""
    found = _ratio(of.num_accepted_tokens, of.num_drafts)
    return sum(of.rates) if found is None and isinstance(of, Counts) and of.rates else found


def _per_chunk(counts: Counts) -> float | None:
    """The first chunk of an answer holds the token of the prompt's pass."""
    known = [one for one in counts.requests if one.output_tokens and one.chunks]
    if not known or len(known) < len(counts.requests):
        return None
    tokens = sum(one.output_tokens or 0 for one in known) - len(known)
    return _ratio(tokens, sum(one.chunks or 0 for one in known) - len(known))


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


_OF_ALL = "the totals of drafting steps, drafted and accepted tokens"
_OF_EACH = "the counts of each request"
_OUTPUT = "output tokens and drafting steps"
_FORMULAS: Mapping[str, tuple[Formula, str]] = {
    d.RATE.key: (lambda c: _ratio(c.num_accepted_tokens, c.num_draft_tokens), _OF_ALL),
    d.RATE_OF_REQUESTS.key: (
        _mean(lambda r: _ratio(r.num_accepted_tokens, r.num_draft_tokens)), _OF_EACH,
    ),
    d.VERIFIED_OF_REQUESTS.key: (
        _mean(
            lambda r: _ratio(
                _plus(r.num_accepted_tokens, r.num_drafts), _plus(r.num_draft_tokens, r.num_drafts)
            )
        ),
        _OF_EACH,
    ),
    d.LENGTH.key: (lambda c: _plus(1, _accepted(c)), _OF_ALL),
    d.LENGTH_OF_REQUESTS.key: (_mean(lambda r: _plus(1, _accepted(r))), _OF_EACH),
    d.ACCEPTED.key: (_accepted, _OF_ALL),
    d.TOKENS.key: (lambda c: _ratio(c.output_tokens, c.num_drafts), _OUTPUT),
    d.TOKENS_OF_REQUESTS.key: (
        _mean(lambda r: _ratio(r.output_tokens, r.num_drafts)), f"{_OUTPUT} of each request",
    ),
    d.TOKENS_PER_CHUNK.key: (_per_chunk, "the chunks of each request"),
}  # fmt: skip
