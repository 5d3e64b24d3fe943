"""Acceptance along the draft, depth by depth, for chains and trees.

Tools call two different rates "per position"; both are here, with the counts they are made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.trace import ROOT, Step, Verdict


@dataclass(frozen=True, slots=True)
class DepthAcceptance:
    """What happened at one depth (from 1), in steps.

    `drafting` steps drafted anything at all. A step `reached` the depth if every token before it
    was accepted and the draft has a candidate there; in a tree, if the last accepted node has
    children. `accepted` steps accepted one of the candidates.
    """

    depth: int
    drafting: int
    reached: int
    accepted: int

    @property
    def unconditional(self) -> float:
        """accepted / drafting, 0-1: vLLM's `acceptance_rate_per_pos`; never rises with depth."""
        return self.accepted / self.drafting

    @property
    def conditional(self) -> float | None:
        """accepted / reached, 0-1; None where no step came that far."""
        return self.accepted / self.reached if self.reached else None


def acceptance_by_depth(steps: Sequence[Step]) -> tuple[DepthAcceptance, ...]:
    """One entry per depth, down to the deepest drafted token; none if nothing was drafted."""
    drafting = [step for step in steps if step.drafted]
    deepest = max((token.depth for step in drafting for token in step.drafted), default=0)
    reached: Counter[int] = Counter()
    accepted: Counter[int] = Counter()
    for step in drafting:
        path = accepted_path(step)
        accepted.update(range(1, len(path) + 1))
        last = path[-1] if path else ROOT
        goes_on = any(token.parent == last for token in step.drafted)
        reached.update(range(1, len(path) + 1 + goes_on))
    return tuple(
        DepthAcceptance(depth, len(drafting), reached[depth], accepted[depth])
        for depth in range(1, deepest + 1)
    )


def accepted_path(step: Step) -> tuple[int, ...]:
    """Places in `step.drafted` of the accepted tokens, from the context down."""
    path: list[int] = []
    node = ROOT
    while True:
        accepted = (
            place
            for place, token in enumerate(step.drafted)
            if token.parent == node and token.verdict is Verdict.ACCEPTED
        )
        found = next(accepted, None)
        if found is None:
            return tuple(path)
        path.append(found)
        node = found
