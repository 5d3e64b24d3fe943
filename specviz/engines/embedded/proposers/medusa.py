"""Extra heads on the target's last hidden state, one per future token.

Cai et al., Medusa, arXiv 2401.10774: head k predicts the k-th token after the next one (2.1); the
heads' best candidates form a tree that the target verifies in one pass (2.1.2, 2.3.3). The format
is the one vLLM serves: `blocks.K.layers.0`, `lm_heads.K`, or with `original_lm_head` one `lm_head`
for all, whose rows are the tokens of `token_map`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from specviz.checkpoints.medusa_names import served_name
from specviz.engines.embedded.checkpoint import load_weights, read_json
from specviz.engines.embedded.draft import Draft, Outcome, Watch
from specviz.engines.embedded.linear import Linear
from specviz.engines.embedded.model import Llama, Weights
from specviz.engines.embedded.proposers.tree_shape import (
    Accuracy,
    TreeShape,
    best_tree,
    chain_shape,
)
from specviz.engines.embedded.sampler import Sampler
from specviz.errors import UsageError
from specviz.trace import ExtraBytes

ACCURACY_KEY = "specviz_head_accuracy"
USUAL_ACCURACY: Accuracy = tuple(
    tuple(0.6 * 0.8**depth * 0.3**rank for rank in range(8)) for depth in range(16)
)
"""For heads without measured accuracies: falls with depth and rank as in the paper's figure 7."""


@dataclass(frozen=True, slots=True)
class MedusaHead:
    """x + SiLU(Wx + b), then a vocabulary projection: its own, or one that all heads share."""

    block: Linear
    projection: Linear

    def logits(self, hidden: Tensor) -> Tensor:
        """[n, tokens drafted] from the target's normed hidden states [n, hidden]."""
        return self.projection(hidden + functional.silu(self.block(hidden)))


@dataclass(frozen=True, slots=True)
class DraftedTokens:
    """Which tokens of the target's `vocabulary` the heads draft: their `ids` [tokens drafted]."""

    ids: Tensor
    vocabulary: int

    def placed(self, logits: Tensor) -> Tensor:
        """[n, vocabulary], with minus infinity for the tokens that are not drafted."""
        empty = logits.new_full((len(logits), self.vocabulary), float("-inf"))
        return empty.index_copy_(1, self.ids, logits)


class Medusa:
    """Drafts a tree (or a chain) in one go: all heads look at the same hidden state."""

    tap_layers: tuple[int, ...] = ()
    watch: Watch | None = None

    def __init__(
        self,
        heads: Sequence[MedusaHead],
        accuracy: Accuracy,
        *,
        tree: bool,
        tokens: DraftedTokens | None = None,
    ) -> None:
        """`tokens` None: the heads draft the whole vocabulary."""
        self._heads = heads
        self._accuracy = accuracy[: len(heads)]
        self._tree = tree
        self._tokens = tokens

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        self._sampler = sampler

    def observe(self, outcome: Outcome) -> None:
        self._hidden = outcome.hidden[-1:]

    def propose(self, context: Sequence[int], k: int) -> Draft:
        shape = self._shape(k)
        widths = shape.widths()
        logits = torch.cat([head.logits(self._hidden) for head in self._heads[: len(widths)]])
        probs = self._sampler.probs(self._tokens.placed(logits) if self._tokens else logits)
        candidates = [self._candidates(row, w) for row, w in zip(probs, widths, strict=True)]
        return fill(shape, candidates, probs, drawn=self._sampler.draws_drafts)

    def extra_bytes(self) -> ExtraBytes:
        blocks = sum(head.block.nbytes for head in self._heads)
        projections = {id(head.projection): head.projection.nbytes for head in self._heads}
        return ExtraBytes(weights=blocks + sum(projections.values()))

    def _shape(self, k: int) -> TreeShape:
        if self._tree:
            return best_tree(self._accuracy, k)
        if k > len(self._heads):
            raise UsageError(
                f"A chain of {k} needs {k} Medusa heads, there are {len(self._heads)}: use K = "
                f"{len(self._heads)} or shape=tree."
            )
        return chain_shape(k)

    def _candidates(self, probs: Tensor, count: int) -> list[int]:
        if self._sampler.draws_drafts:
            return self._sampler.draw_distinct(probs, count)
        best: list[int] = probs.topk(count).indices.tolist()
        return best


def fill(
    shape: TreeShape, candidates: Sequence[Sequence[int]], probs: Tensor, *, drawn: bool
) -> Draft:
    """A draft of `shape` from each depth's candidates and its distribution `probs` [depths, V].

    Where a depth has fewer candidates than the shape asks for, nodes and their children are left
    out. All parents of a depth offer the same candidates: only one of them is ever judged, and
    that does not depend on what was drawn below it.
    """
    kept: dict[int, int] = {-1: -1}
    nodes: list[tuple[int, int, int]] = []
    for node, (parent, rank, depth) in enumerate(
        zip(shape.parents, shape.ranks, shape.depths, strict=True)
    ):
        if parent in kept and rank < len(candidates[depth - 1]):
            kept[node] = len(nodes)
            nodes.append((candidates[depth - 1][rank], kept[parent], depth - 1))
    token_ids = tuple(token for token, _, _ in nodes)
    rows = torch.tensor([depth for _, _, depth in nodes], device=probs.device)
    own = probs[rows, torch.tensor(token_ids, device=probs.device)].tolist()
    parents = tuple(parent for _, parent, _ in nodes)
    return Draft(token_ids, parents, tuple(own), probs[rows] if drawn else None)


def load_medusa(folder: Path, target: Llama, *, tree: bool) -> Medusa:
    """The heads in `folder`. Raises UsageError where they are not heads for `target`."""
    config = read_json(folder, "config.json")
    if config.get("model_type") != "medusa" or config.get("hidden_size") != target.config.hidden:
        raise UsageError(
            f"{folder} has no Medusa heads for a hidden size of {target.config.hidden}: train "
            "them with `specviz train`, or name another folder with --draft."
        )
    loaded = load_weights(folder, target.dtype, target.device)
    weights = {served_name(name): weight for name, weight in loaded.items()}
    ids = weights.get("token_map")
    shared = _shared(weights, ids) if config.get("original_lm_head") else None
    if config.get("original_lm_head") and shared is None:
        shared, ids = target.head, None
    heads = [
        MedusaHead(
            block=Linear(
                weights[f"blocks.{k}.layers.0.weight"], weights.get(f"blocks.{k}.layers.0.bias")
            ),
            projection=shared or Linear(weights[f"lm_heads.{k}.weight"]),
        )
        for k in range(int(config["num_heads"]))
    ]
    accuracy = tuple(tuple(map(float, row)) for row in config.get(ACCURACY_KEY, ()))
    tokens = None if ids is None else DraftedTokens(ids, target.config.vocabulary)
    return Medusa(heads, accuracy or USUAL_ACCURACY, tree=tree, tokens=tokens)


def _shared(weights: Weights, ids: Tensor | None) -> Linear | None:
    """The projection of all heads, of the tokens `ids`; None where the file has none."""
    matrix = weights.get("lm_head.weight", weights.get("lm_heads.0.weight"))
    if matrix is None:
        return None
    return Linear(matrix if ids is None or len(matrix) == len(ids) else matrix[ids])
