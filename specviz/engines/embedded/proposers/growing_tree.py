"""A candidate tree that grows where the drafter is most confident."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from torch import Tensor

from specviz.engines.embedded.draft import Draft
from specviz.trace import ROOT

BRANCHES = 4
"""Candidates per expanded node, and nodes expanded per level at most."""


@dataclass(frozen=True, slots=True)
class Node:
    """A candidate; `confidence` is the product of `prob` from the root down.

    `features` [1, hidden] are the drafter's for the position before the token.
    """

    token_id: int
    parent: int
    depth: int
    prob: float
    confidence: float
    features: Tensor


@dataclass(slots=True)
class GrowingTree:
    """All candidates so far, of which the `k` most confident will make the draft."""

    k: int
    nodes: list[Node] = field(default_factory=list)
    _last_level: list[int] = field(default_factory=list)

    def add_children(self, parent: int, probs: Tensor, features: Tensor) -> None:
        """The best candidates after `parent`, whose distribution [vocabulary] is `probs`."""
        above = self.nodes[parent] if parent != ROOT else None
        best = probs.topk(min(BRANCHES, self.k, probs.shape[-1]))
        depth = above.depth + 1 if above else 1
        for token_id, prob in zip(best.indices.tolist(), best.values.tolist(), strict=True):
            if prob <= 0.0:
                break  # top-p has cut it off
            confidence = prob * (above.confidence if above else 1.0)
            self._last_level.append(len(self.nodes))
            self.nodes.append(Node(token_id, parent, depth, prob, confidence, features))

    def worth_expanding(self, most: int) -> list[int]:
        """Nodes of the last level whose children may be among the best k; ends that level."""
        level, self._last_level = self._last_level, []
        if not level or self.nodes[level[0]].depth >= self.k:
            return []
        best = set(self._best())
        worthy = [node for node in level if node in best]
        worthy.sort(key=lambda node: -self.nodes[node].confidence)
        floor = self._floor(best)
        return [node for node in worthy[:most] if self.nodes[node].confidence > floor]

    def draft(self) -> Draft:
        """The best k, parents first, siblings by falling probability."""
        chosen = sorted(self._best(), key=lambda node: (self.nodes[node].depth, node))
        place = {node: index for index, node in enumerate(chosen)}
        nodes = [self.nodes[node] for node in chosen]
        return Draft(
            token_ids=tuple(node.token_id for node in nodes),
            parents=tuple(place.get(node.parent, ROOT) for node in nodes),
            probs=tuple(node.prob for node in nodes),
        )

    def _best(self) -> list[int]:
        """The k most confident; of equals the older one, so that parents come first."""
        return heapq.nsmallest(
            self.k, range(len(self.nodes)), key=lambda node: (-self.nodes[node].confidence, node)
        )

    def _floor(self, best: set[int]) -> float:
        """A child must be more confident than this to be among the best k."""
        full = len(best) >= self.k
        return min(self.nodes[node].confidence for node in best) if full else 0.0
