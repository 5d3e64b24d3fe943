"""Acceptance of a cell's requests, from their counts and their steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from specviz.analysis.benchmark.list_columns import lengths, pooled
from specviz.analysis.benchmark.results import Acceptance

COUNTS = ["num_drafts", "num_draft_tokens", "num_accepted_tokens"]
_STEPS = ["per_step_accepted", "per_step_drafted", "is_chain", "num_judged_tokens"]


@dataclass(frozen=True, slots=True)
class Steps:
    """Verification steps with a draft, each array [steps].

    `drafted` counts draft tokens; only in a chain is that the drafted depth as well.
    """

    accepted: NDArray[np.int64]
    drafted: NDArray[np.int64]
    is_chain: NDArray[np.bool_]


def with_counts(samples: pd.DataFrame) -> pd.DataFrame:
    """The requests whose server reported how many tokens were drafted and accepted."""
    return samples[samples[COUNTS].notna().all(axis=1)]


def acceptance(samples: pd.DataFrame) -> Acceptance | None:
    """Acceptance of finished requests; None where nothing was drafted or reported.

    The positions are empty and `alpha` is None where the steps of some request are missing: they
    are given only if they add up to the counts, so that 1 + sum(acceptance_rate_per_pos) is
    `mean_acceptance_length`.
    """
    counted = with_counts(samples[[*COUNTS, *_STEPS]])
    drafts, drafted, accepted = (int(counted[name].sum()) for name in COUNTS)
    if not drafts or not drafted:
        return None
    steps = _steps(counted)
    whole = len(steps.accepted) == drafts and int(steps.accepted.sum()) == accepted
    each = counted.loc[counted["num_drafts"] > 0, COUNTS].astype(float)
    return Acceptance(
        draft_acceptance_rate=accepted / drafted,
        draft_acceptance_rate_request_mean=float(
            (each["num_accepted_tokens"] / each["num_draft_tokens"]).mean()
        ),
        mean_acceptance_length=1 + accepted / drafts,
        mean_acceptance_length_request_mean=float(
            (1 + each["num_accepted_tokens"] / each["num_drafts"]).mean()
        ),
        alpha=alpha(steps, counted) if whole else None,
        acceptance_rate_per_pos=acceptance_rate_per_pos(steps) if whole else (),
        conditional_acceptance_rate_per_pos=conditional_acceptance_rate_per_pos(steps)
        if whole
        else (),
        num_drafts=drafts,
        num_draft_tokens=drafted,
        num_accepted_tokens=accepted,
    )


def alpha(steps: Steps, samples: pd.DataFrame) -> float | None:
    """Accepted / judged draft tokens: those that were accepted or seen to be rejected.

    A chain's step has one rejection at most: what was drafted after it was never judged. Steps of
    a tree may have several, so its requests report how many tokens were judged; None where one of
    `samples`, the requests of `steps`, does not.
    """
    in_trees = samples.loc[~samples["is_chain"].astype(bool), "num_judged_tokens"]
    if in_trees.isna().any():
        return None
    rejected = steps.is_chain & (steps.accepted < steps.drafted)
    judged = int(steps.accepted[steps.is_chain].sum() + rejected.sum() + in_trees.sum())
    return int(steps.accepted.sum()) / judged if judged else None


def acceptance_rate_per_pos(steps: Steps) -> tuple[float, ...]:
    """Accepted at depth i + 1 / steps, [depth]: vLLM's acceptance rate per position.

    A step that accepts `a` tokens accepts at the depths 1 to a, so the rates never increase, and
    1 plus their sum is the mean acceptance length.
    """
    count = len(steps.accepted)
    return tuple(int((steps.accepted > i).sum()) / count for i in range(_depth(steps)))


def conditional_acceptance_rate_per_pos(steps: Steps) -> tuple[float | None, ...]:
    """Accepted at depth i + 1 / steps that reached it, [depth]; None where none did.

    A chain reaches depth i + 1 if it drafted that many tokens and the i before were accepted. Of a
    tree the drafted depth is not known: every step that accepted i tokens counts as reaching the
    next depth, also where the tree ended there, so a tree's rates are lower bounds.
    """
    rates: list[float | None] = []
    for i in range(_depth(steps)):
        drafted_there = (steps.drafted > i) | ~steps.is_chain
        reached = int(((steps.accepted >= i) & drafted_there).sum())
        rates.append(int((steps.accepted > i).sum()) / reached if reached else None)
    return tuple(rates)


def _depth(steps: Steps) -> int:
    """The deepest position known of: drafted in a chain, accepted in a tree."""
    known = np.where(steps.is_chain, steps.drafted, steps.accepted)
    return int(known.max(initial=0))


def _steps(samples: pd.DataFrame) -> Steps:
    known = samples.dropna(subset=["per_step_accepted", "per_step_drafted"])
    counts = lengths(known["per_step_accepted"])
    return Steps(
        pooled(known["per_step_accepted"], np.int64),
        pooled(known["per_step_drafted"], np.int64),
        np.repeat(known["is_chain"].to_numpy(dtype=bool), counts),
    )
