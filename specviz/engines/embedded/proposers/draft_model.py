"""A small model with the same vocabulary drafts token by token.

Leviathan et al., arXiv 2211.17192; Chen et al., 2302.01318.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from specviz.engines.embedded.draft import Draft, Outcome, Watch
from specviz.engines.embedded.model import Llama
from specviz.engines.embedded.proposers.chain_builder import ChainBuilder
from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ExtraBytes


class DraftModel:
    """Drafts a chain with `model`; `floor` as in `ChainBuilder`."""

    tap_layers: tuple[int, ...] = ()
    watch: Watch | None = None

    def __init__(self, model: Llama, floor: float = 0.0) -> None:
        self._model = model
        self._floor = floor
        self._cache = model.new_cache()
        self._read: list[int] = []  # the tokens whose keys and values are cached
        self._sure = 0  # how many of them the target has confirmed

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        self._cache.rollback(0)
        self._read = []
        self._sure = 0
        self._sampler = sampler

    def propose(self, context: Sequence[int], k: int) -> Draft:
        self._forget_beyond(context)
        unread = list(context[len(self._read) :])
        builder = ChainBuilder(self._sampler, self._floor)
        while len(builder.token_ids) < k and builder.add(self._next(unread)):
            unread = builder.token_ids[-1:]
        return builder.draft()

    def observe(self, outcome: Outcome) -> None:
        """Nothing: the next context shows what was rejected."""

    def extra_bytes(self) -> ExtraBytes:
        return ExtraBytes(weights=self._model.nbytes, kv_cache=self._cache.nbytes)

    def _next(self, unread: list[int]) -> Tensor:
        """The distribution [vocabulary] of the token after `unread`."""
        logits = self._model.forward(unread, self._cache, logits_from=len(unread) - 1).logits
        self._read += unread
        return self._sampler.probs(logits)[0]

    def _forget_beyond(self, context: Sequence[int]) -> None:
        """Keep the cached prefix that the context shares; its last token is always read again."""
        known = min(self._sure, len(self._read))
        while (
            known < min(len(self._read), len(context) - 1) and self._read[known] == context[known]
        ):
            known += 1
        del self._read[known:]
        self._cache.rollback(known)
        self._sure = len(context) - 1
