"""Drafting steps as other tools report them, and the acceptance figures that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from specviz.store.exchange.results.measured import Json

MOST_POSITIONS = 1024
"""Longer than any draft: rates by position take a place each."""


@dataclass(frozen=True, slots=True)
class DraftStep:
    """One step: draft tokens, and how many of them were accepted. None: the file does not say.

    `elapsed_ms` since the request began, as the tool logged it; `draft_token_ids` in the order they
    were drafted, `draft_probs` the draft's probability of each; `next_token_id` is the target's own
    token after those accepted. Raises ValueError for a step that cannot be.
    """

    step_index: int
    num_draft_tokens: int
    num_accepted_tokens: int
    draft_token_ids: Sequence[int] | None = None
    draft_probs: Sequence[float | None] | None = None
    next_token_id: int | None = None
    elapsed_ms: float | None = None

    def __post_init__(self) -> None:
        if self.num_accepted_tokens > self.num_draft_tokens:
            raise ValueError(
                f"step {self.step_index} accepts {self.num_accepted_tokens} of "
                f"{self.num_draft_tokens} draft tokens"
            )
        for listed in (self.draft_token_ids, self.draft_probs):
            if listed is not None and len(listed) != self.num_draft_tokens:
                raise ValueError(f"step {self.step_index} lists {len(listed)} of its draft tokens")


def columns_of(steps: Sequence[DraftStep]) -> Json:
    """The columns of `elsewhere_requests` that steps fill."""
    return {
        "num_drafts": sum(step.num_draft_tokens > 0 for step in steps),
        "num_draft_tokens": sum(step.num_draft_tokens for step in steps),
        "num_accepted_tokens": sum(step.num_accepted_tokens for step in steps),
        "steps": [asdict(step) for step in steps],
    }


def totals_of(
    num_drafts: int, num_draft_tokens: int, accepted: Mapping[int, int], deepest: int | None = None
) -> Json:
    """The acceptance columns of `elsewhere` from how many steps accepted so many tokens.

    `deepest` is the last position that was drafted, if it is known to be deeper than what was
    accepted. Raises ValueError for counts that contradict each other.
    """
    num_accepted = sum(tokens * steps for tokens, steps in accepted.items())
    if sum(accepted.values()) != num_drafts or num_accepted > num_draft_tokens:
        raise ValueError("its counts of steps, drafted and accepted tokens contradict each other")
    depth = max(
        deepest or 0, max((tokens for tokens, steps in accepted.items() if steps), default=0)
    )
    if depth > MOST_POSITIONS:
        raise ValueError(f"a step drafts {depth:,} tokens")
    reached = [
        sum(steps for tokens, steps in accepted.items() if tokens > place) for place in range(depth)
    ]
    return {
        "num_drafts": num_drafts,
        "num_draft_tokens": num_draft_tokens,
        "num_accepted_tokens": num_accepted,
        "draft_acceptance_rate": num_accepted / num_draft_tokens if num_draft_tokens else None,
        "mean_acceptance_length": 1 + num_accepted / num_drafts if num_drafts else None,
        "acceptance_rate_per_pos": [steps / num_drafts for steps in reached] if reached else None,
    }


def totals_of_steps(steps: Iterable[DraftStep]) -> Json:
    """The acceptance columns of `elsewhere` over steps that drafted something."""
    drafting = [step for step in steps if step.num_draft_tokens]
    return totals_of(
        len(drafting),
        sum(step.num_draft_tokens for step in drafting),
        Counter(step.num_accepted_tokens for step in drafting),
        max((step.num_draft_tokens for step in drafting), default=0),
    )
