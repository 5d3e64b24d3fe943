"""Drafting with a head that predicts the target's features step by step, as EAGLE does.

The head has one decoder layer and its own KV cache. Row i of it sees the target's features at
position i and the token that came after it, and predicts the token after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from specviz.engines.embedded.attention import Layout, chain_layout, tree_layout
from specviz.engines.embedded.draft import Draft, Outcome, Watch
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.proposers.chain_builder import ChainBuilder
from specviz.engines.embedded.proposers.growing_tree import BRANCHES, GrowingTree
from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ROOT, ExtraBytes


class FeatureHead(Protocol):
    """The part of EAGLE that differs from version to version."""

    tap_layers: tuple[int, ...]

    def new_cache(self) -> KVCache: ...

    def features(self, outcome: Outcome) -> Tensor:
        """The target's features of the tokens it has kept, [m, hidden]."""
        ...

    def forward(
        self, token_ids: Sequence[int], features: Tensor, cache: KVCache, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        """Logits [n, vocabulary] of the next tokens and the features [n, hidden] that go with them.

        `features` belong to the positions before the tokens. Extends the cache by n.
        """
        ...

    @property
    def nbytes(self) -> int: ...


class FeatureDrafter:
    """Drafts a chain (`floor` as in `ChainBuilder`) or a dynamic tree with a `FeatureHead`."""

    watch: Watch | None = None

    def __init__(self, head: FeatureHead, *, tree: bool, floor: float = 0.0) -> None:
        self._head = head
        self._tree = tree
        self._floor = floor
        self._cache = head.new_cache()
        self.tap_layers = head.tap_layers

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        self._cache.rollback(0)
        self._sampler = sampler
        self._sure = 0  # rows of the cache that the target's own features made

    def observe(self, outcome: Outcome) -> None:
        """Replace the head's guesses about the kept tokens by the target's own features."""
        self._cache.rollback(self._sure)
        token_ids = (*outcome.token_ids[1:], outcome.next_token)
        layout = self._chain(len(token_ids))
        logits, features = self._head.forward(
            token_ids, self._head.features(outcome), self._cache, layout
        )
        self._sure = self._cache.length
        self._probs = self._sampler.probs(logits[-1:])
        self._features = features[-1:]

    def propose(self, context: Sequence[int], k: int) -> Draft:
        return self._draft_tree(k) if self._tree else self._draft_chain(k)

    def extra_bytes(self) -> ExtraBytes:
        return ExtraBytes(weights=self._head.nbytes, kv_cache=self._cache.nbytes)

    def _chain(self, count: int) -> Layout:
        self._cache.reserve(count)
        return chain_layout(self._cache.length, count, self._cache.keys)

    def _draft_chain(self, k: int) -> Draft:
        """EAGLE, arXiv 2401.15077, 4.1: predict a feature, draw a token, continue with both."""
        probs, features = self._probs, self._features
        builder = ChainBuilder(self._sampler, self._floor)
        while builder.add(probs[0]) and len(builder.token_ids) < k:
            logits, features = self._head.forward(
                builder.token_ids[-1:], features, self._cache, self._chain(1)
            )
            probs = self._sampler.probs(logits)
        return builder.draft()

    def _draft_tree(self, k: int) -> Draft:
        """EAGLE-2, arXiv 2406.16858, section 4: expand the most confident nodes, keep the best k.

        Confidence is the product of the head's probabilities from the root down; as it only falls,
        a node outside the best k need not be expanded. Candidates are picked, not drawn.
        """
        tree = GrowingTree(k)
        tree.add_children(ROOT, self._probs[0], self._features)
        expanded: list[int] = []
        while frontier := tree.worth_expanding(BRANCHES):
            logits, features = self._head.forward(
                [tree.nodes[node].token_id for node in frontier],
                torch.cat([tree.nodes[node].features for node in frontier]),
                self._cache,
                self._layout(tree, expanded, frontier),
            )
            expanded += frontier
            for row, node in enumerate(frontier):
                probs = self._sampler.probs(logits[row : row + 1])[0]
                tree.add_children(node, probs, features[row : row + 1])
        return tree.draft()

    def _layout(self, tree: GrowingTree, expanded: list[int], frontier: list[int]) -> Layout:
        """`frontier` after `expanded`; the root's row is the last confirmed one."""
        self._cache.reserve(len(frontier))
        place = {node: index for index, node in enumerate([*expanded, *frontier])}
        parents = tuple(place.get(tree.nodes[node].parent, ROOT) for node in place)
        return tree_layout(self._sure - 1, parents, self._cache.keys, read=1 + len(expanded))
