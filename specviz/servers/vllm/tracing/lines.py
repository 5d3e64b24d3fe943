"""One line of a trace: what one engine step did for one request, ready for JSON.

    step          0, 1, … per request
    t_ms          when the step was verified, on the server's monotonic clock
    drafted       the draft's token ids; empty where nothing was drafted (prefill, lookup miss)
    target_probs  the target's probability of each, after temperature, top-p and top-k
    draft_probs   the drafter's; 1 if the rule took the draft as certain; null if unknown
    accept_probs  min(1, target_prob / draft_prob); at temperature 0, 1 for the first choice, or 0
    u             the random number of each judged token: accepted if u <= accept_prob
    top           per judged token, the target's best [id, probability]
    emitted       what the sampler gave out, before a stop cuts it: accepted drafts and one more
    num_accepted  len(emitted) - 1
    draft_ms      drafting these tokens
    verify_ms     forward and sampling
    wall_ms       since the request's last line
    allowed       the K that the policy allowed and its reason; null without a policy

Tokens after the first rejected one were not judged: their probabilities are conditional on it.

Pure functions over plain lists: they run in the spool's thread, not in the engine's step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

LOOKUPS = ("ngram", "ngram_gpu", "suffix")
"""vLLM's methods without a model: what they draft is certain to them."""


@dataclass(frozen=True)
class Judged:
    """The drafted tokens of one request in one step, in draft order, as the sampler saw them.

    `draft_probs` is None if the sampler had none, `ratios` (target_prob / draft_prob) and
    `uniform` at temperature 0. `top` holds, per token, the target's best ids and their
    probabilities.
    """

    drafted: list[int] = field(default_factory=list)
    target_probs: list[float] = field(default_factory=list)
    draft_probs: list[float | None] | None = None
    ratios: list[float] | None = None
    uniform: list[float | None] | None = None
    top_ids: list[list[int]] = field(default_factory=list)
    top_probs: list[list[float]] = field(default_factory=list)


NOTHING = Judged()


@dataclass(frozen=True)
class StepRecord:
    """One step of one request. Times in ms, None where not known.

    `sampled` is the sampler's row, padded with ids outside the vocabulary. `drafter_probs` are
    the drafter's own probabilities at temperature 0, where the sampler uses none. `allowed`: the K
    that the scheduler allowed, and its reason.
    """

    step: int
    t_ms: float
    sampled: list[int]
    vocab_size: int
    is_greedy: bool
    judged: Judged = NOTHING
    drafter_probs: list[float] | None = None
    draft_ms: float | None = None
    verify_ms: float | None = None
    wall_ms: float | None = None
    allowed: tuple[int, str] | None = None


def line(record: StepRecord) -> Json:
    """The record as the client reads it."""
    emitted = [token for token in record.sampled if 0 <= token < record.vocab_size]
    num_accepted = max(len(emitted) - 1, 0)
    judged, num_drafted = record.judged, len(record.judged.drafted)
    num_judged = min(num_accepted + 1, num_drafted)
    decide = _greedy if record.is_greedy else _sampled
    pairs = zip(judged.top_ids[:num_judged], judged.top_probs[:num_judged], strict=True)
    return {
        "step": record.step,
        "t_ms": record.t_ms,
        "drafted": judged.drafted,
        "target_probs": [_finite(prob) for prob in judged.target_probs],
        **decide(record, num_accepted, num_judged),
        "top": [
            [[token, round(prob, 6)] for token, prob in zip(ids, probs, strict=True)]
            for ids, probs in pairs
        ],
        "emitted": emitted,
        "num_accepted": num_accepted,
        "draft_ms": record.draft_ms,
        "verify_ms": record.verify_ms,
        "wall_ms": record.wall_ms,
        "allowed": record.allowed and dict(zip(("k", "reason"), record.allowed, strict=True)),
    }


def _greedy(record: StepRecord, num_accepted: int, num_judged: int) -> Json:
    """Temperature 0: the target's first choice or nothing; no random number."""
    judged = record.judged
    accept_probs = [
        float(index < num_accepted if index < num_judged else best[0] == token)
        for index, (token, best) in enumerate(zip(judged.drafted, judged.top_ids, strict=True))
    ]
    unknown = [None] * len(judged.drafted)
    draft_probs = record.drafter_probs or judged.draft_probs or unknown
    return {
        "draft_probs": [_finite(prob) for prob in draft_probs],
        "accept_probs": accept_probs,
        "u": unknown,
    }


def _sampled(record: StepRecord, _num_accepted: int, num_judged: int) -> Json:
    """Temperature > 0: accepted if u <= min(1, target_prob / draft_prob).

    A draft without probabilities counts as certain (draft_prob 1), as it does in the sampler.
    """
    judged = record.judged
    uniform: list[float | None] = (judged.uniform or [])[:num_judged]
    return {
        "draft_probs": [
            _finite(prob) for prob in judged.draft_probs or [1.0] * len(judged.drafted)
        ],
        "accept_probs": [_finite(min(1.0, ratio)) for ratio in judged.ratios or []],
        "u": uniform + [None] * (len(judged.drafted) - len(uniform)),
    }


def _finite(value: float | None) -> float | None:
    """`value`, or None where JSON has no word for it."""
    return value if value is not None and math.isfinite(value) else None
