"""The target as its own drafter: some of its sublayers, on its own KV cache.

Nothing is loaded and nothing is cached twice. A sublayer that drafts finds its keys and values of
the context, which verification computed with all layers, and appends those of the draft.
A skipped one writes nothing there, and nothing reads it: the same sublayers run for a whole
draft. Afterwards the cache is rolled back, and verification overwrites what was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from specviz.engines.embedded.draft import Draft
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.model import Llama, Sublayers
from specviz.engines.embedded.proposers.chain_builder import ChainBuilder


class SelfDrafter:
    """Drafts with `target` on `cache`, which is the one that the target verifies with."""

    def __init__(self, target: Llama, cache: KVCache) -> None:
        self._target = target
        self._cache = cache

    @property
    def layers(self) -> int:
        return self._target.config.layers

    def chain(
        self,
        context: Sequence[int],
        k: int,
        run: Sublayers,
        builder: ChainBuilder,
        *,
        confidence: float = 0.0,
    ) -> Draft:
        """At most `k` candidates, no more after one whose probability is below `confidence`."""
        cache = self._cache
        start = cache.length
        unread = list(context[start:])
        last = len(unread) - 1
        while len(builder.token_ids) < k:
            logits = self._target.forward(unread, cache, run=run, logits_from=last).logits
            probs = builder.sampler.probs(logits)[0]
            if not builder.add(probs):
                break
            unread, last = builder.token_ids[-1:], 0
            if confidence and float(probs[unread[0]]) < confidence:
                break
        cache.rollback(start)
        return replace(builder.draft(), skipped_layers=run.skipped)

    def matchness(self, context: Sequence[int], start: int, end: int, run: Sublayers) -> float:
        """How many of the tokens at positions `start` to `end` the sublayers would have picked.

        Measured in one pass, each token after the context as it is (SWIFT, arXiv 2410.06916, 4.1).
        """
        with _rewound(self._cache, start - 1):
            logits = self._target.forward(context[start - 1 : end - 1], self._cache, run=run).logits
        picked: list[int] = logits.argmax(-1).tolist()
        hits = sum(a == b for a, b in zip(picked, context[start:end], strict=True))
        return hits / len(picked)


@contextmanager
def _rewound(cache: KVCache, length: int) -> Iterator[None]:
    """Only the first `length` slots count inside; afterwards all is as it was."""
    before = cache.length
    keys = cache.keys[:, :, length:before].clone()
    values = cache.values[:, :, length:before].clone()
    cache.rollback(length)
    yield
    cache.rollback(length)
    cache.keys[:, :, length:before] = keys
    cache.values[:, :, length:before] = values
    cache.length = before
