"""Models and samplers that compute everything once: the real loop, a hundred thousand times.

With a vocabulary of six there are only so many contexts. What a real model said of each is kept,
so the decoding loop, the proposers and the verifier run as they are, without waiting for a model.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from specviz.engines.embedded.attention import Layout, chain_layout
from specviz.engines.embedded.draft import Watch
from specviz.engines.embedded.model import Forward, Llama, Sublayers
from specviz.engines.embedded.proposers.feature_head import FeatureDrafter
from specviz.engines.embedded.sampler import Sampler

Slot = tuple[Any, ...]
"""What the keys and values of one token were made from: in a model, token and sublayers."""


class TokenCache:
    """What a `KVCache` would hold, by name; what is rolled back stays until it is overwritten."""

    nbytes = 0

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.length = 0
        self.keys = self.values = _Contents(self.slots)

    @property
    def read(self) -> tuple[Slot, ...]:
        """The slots that count."""
        return tuple(self.slots[: self.length])

    def write(self, new: Sequence[Slot]) -> None:
        self.slots[self.length : self.length + len(new)] = new
        self.length += len(new)

    def reserve(self, count: int) -> None:
        pass

    def rollback(self, length: int) -> None:
        assert 0 <= length <= self.length
        self.length = length

    def keep(self, start: int, kept: Sequence[int]) -> None:
        self.slots[start : start + len(kept)] = [self.slots[start + offset] for offset in kept]
        self.rollback(start + len(kept))


class _Contents:
    """Stands for the tensors of a cache: a stretch of slots can be copied and put back."""

    def __init__(self, slots: list[Slot]) -> None:
        self._slots = slots

    def __getitem__(self, index: tuple[Any, Any, slice]) -> Any:
        return _Contents(self._slots[index[2]])

    def __setitem__(self, index: tuple[Any, Any, slice], value: _Contents) -> None:
        self._slots[index[2]] = value._slots

    def clone(self) -> _Contents:
        return _Contents([*self._slots])


@dataclass(frozen=True, slots=True)
class Row:
    """What a model says of one token after those before it; all tensors are [1, n]."""

    logits: Tensor
    hidden: Tensor
    taps: Tensor | None
    watched: Tensor | None


class RememberedLlama:
    """A `Llama` whose rows are looked up where they have been made before.

    A row of a tree is that of the chain of its ancestors, which `test_model_trees.py` proves.
    """

    def __init__(self, model: Llama) -> None:
        self.model = model
        self._rows: dict[Any, Row] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def new_cache(self) -> TokenCache:
        return TokenCache()

    def forward(
        self,
        token_ids: Sequence[int],
        cache: TokenCache,
        *,
        parents: tuple[int, ...] | None = None,
        logits_from: int = 0,
        taps: tuple[int, ...] = (),
        watch: Watch | None = None,
        run: Sublayers | None = None,
    ) -> Forward:
        new = [(token, run) for token in token_ids]
        paths: list[tuple[Slot, ...]] = []
        for index, slot in enumerate(new):
            above = index - 1 if parents is None or index == 0 else parents[index - 1] + 1
            paths.append((*(paths[above] if index else cache.read), slot))
        layer = None if watch is None else watch.layer
        rows = [self._row(path, taps, layer) for path in paths]
        if watch is not None:
            watch.seen(torch.cat([row.watched for row in rows if row.watched is not None]))
            watch.over()
        cache.write(new)
        return Forward(
            torch.cat([row.logits for row in rows[logits_from:]]),
            torch.cat([row.hidden for row in rows]),
            torch.cat([row.taps for row in rows if row.taps is not None]) if taps else None,
        )

    def _row(self, path: tuple[Slot, ...], taps: tuple[int, ...], watched: int | None) -> Row:
        key = (path, taps, watched)
        if key not in self._rows:
            self._rows[key] = self._computed(*key)
        return self._rows[key]

    @torch.inference_mode()
    def _computed(self, path: tuple[Slot, ...], taps: tuple[int, ...], watched: int | None) -> Row:
        cache = self.model.new_cache()
        seen: list[Tensor] = []
        watch = None if watched is None else Watch(watched, seen.append)
        for run, slots in itertools.groupby(path, key=lambda slot: slot[1]):
            tokens = [token for token, _ in slots]
            last = self.model.forward(tokens, cache, taps=taps, watch=watch, run=run)
        return Row(
            last.logits[-1:],
            last.hidden[-1:],
            None if last.taps is None else last.taps[-1:],
            seen[-1][-1:] if seen else None,
        )


class RememberedSampler(Sampler):
    """A `Sampler` that turns equal logits into probabilities once; all that is drawn is new."""

    _known: dict[bytes, Tensor]

    def probs(self, logits: Tensor) -> Tensor:
        known = self.__dict__.setdefault("_known", {})
        key = logits.numpy().tobytes()
        if key not in known:
            known[key] = super().probs(logits)
        return known[key]


class FeatureCache(TokenCache):
    """The cache of a feature head: its only layer makes keys from token, position and feature."""

    def __init__(self, like: Tensor) -> None:
        super().__init__()
        self.keys = like  # only its type and device are looked at


Passes = dict[Any, tuple[Tensor, Tensor]]
"""Passes of one head by all that they depend on."""


class RememberedHead:
    """A `FeatureHead` whose passes are looked up in `passes` where they have been made before."""

    def __init__(self, head: Any, passes: Passes) -> None:
        self.head = head
        self._passes = passes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.head, name)

    def new_cache(self) -> FeatureCache:
        return FeatureCache(self.head.new_cache().keys)

    def forward(
        self, token_ids: Sequence[int], features: Tensor, cache: FeatureCache, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        made_from = [row.tobytes() for row in features.numpy()]
        new = [*zip(token_ids, layout.positions.tolist(), made_from, strict=True)]
        key = (cache.read, tuple(new), layout.mask.numpy().tobytes())
        if key not in self._passes:
            self._passes[key] = self._computed(cache.read, token_ids, features, layout)
        cache.write(new)
        return self._passes[key]

    @torch.inference_mode()
    def _computed(
        self, slots: Sequence[Any], token_ids: Sequence[int], features: Tensor, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        cache = self.head.new_cache()
        for token, position, made_from in slots:
            feature = torch.frombuffer(bytearray(made_from), dtype=features.dtype)[None]
            place = chain_layout(cache.length, 1, features)
            place = replace(place, positions=torch.tensor([position]))
            self.head.forward([token], feature, cache, place)
        return self.head.forward(token_ids, features, cache, layout)


def remember(proposer: Any, passes: Passes) -> Any:
    """The same proposer; a feature head in it remembers its passes in `passes`."""
    if isinstance(proposer, FeatureDrafter):
        proposer._head = RememberedHead(proposer._head, passes)
        proposer._cache = proposer._head.new_cache()
    return proposer


def wait_for_branches(mirror: Any) -> Any:
    """Verification ends when all branches are drafted: remembered, it would be over at once."""

    def over() -> None:
        mirror._side.wait()
        mirror._seen_off()

    mirror.watch = replace(mirror.watch, over=over)
    return mirror
