"""Speculative decoding, as in the papers: draft, verify, commit, repeat."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specviz.engines.embedded.draft import Draft, Outcome, Proposer
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.model import Forward, Llama
from specviz.engines.embedded.sampler import Sampler
from specviz.engines.embedded.verify import Rule, Verified, verify


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the loop, before detokenization.

    `target` [n + 1, vocabulary] are the rows the draft was judged by: probabilities, or logits at
    temperature 0. Times are `time.perf_counter` seconds; `drafted` is `began` where there was
    nobody to draft.
    """

    draft: Draft
    verified: Verified
    target: Tensor
    began: float
    drafted: float
    ended: float

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The tokens that the round adds to the output."""
        accepted = (self.draft.token_ids[node] for node in self.verified.path)
        return (*accepted, self.verified.next_token)


class Decoder:
    """A target with its KV cache, and a proposer (None: plain decoding).

    `cache` is given if the proposer drafts on it too.
    """

    def __init__(
        self,
        target: Llama,
        proposer: Proposer | None,
        rule: Rule | None = None,
        cache: KVCache | None = None,
    ) -> None:
        self.target = target
        self.cache = cache or target.new_cache()
        self._proposer = proposer
        self._rule = rule

    def rounds(self, prompt_ids: Sequence[int], sampler: Sampler, k: int) -> Iterator[Round]:
        """Decode until the consumer stops. The first round reads the prompt and drafts nothing."""
        proposer = self._proposer
        self.cache.rollback(0)
        if proposer is not None:
            proposer.reset(prompt_ids, sampler)
        context = list(prompt_ids)
        unread = tuple(prompt_ids)
        draft = Draft()
        began = drafted = time.perf_counter()
        while True:
            forward, verified, target = self._verify(unread, draft, sampler)
            done = Round(draft, verified, target, began, drafted, time.perf_counter())
            yield done
            began = drafted = time.perf_counter()
            context += done.token_ids
            if proposer is not None:
                draft = self._draft(proposer, _outcome(unread, done, forward), context, k)
                drafted = time.perf_counter()
            unread = (verified.next_token,)

    @torch.inference_mode()
    def _draft(self, proposer: Proposer, outcome: Outcome, context: Sequence[int], k: int) -> Draft:
        proposer.observe(outcome)
        room = self.target.config.max_positions - len(context) - 1
        return proposer.propose(context, min(k, room)) if room > 0 else Draft()

    @torch.inference_mode()
    def _verify(
        self, unread: tuple[int, ...], draft: Draft, sampler: Sampler
    ) -> tuple[Forward, Verified, Tensor]:
        """One pass of the target over the unread tokens and the draft after them."""
        start = self.cache.length
        last = len(unread) - 1
        forward = self.target.forward(
            (*unread, *draft.token_ids),
            self.cache,
            parents=None if draft.is_chain else draft.parents,
            logits_from=last,
            taps=self._proposer.tap_layers if self._proposer else (),
            watch=self._proposer.watch if self._proposer else None,
        )
        target = forward.logits if sampler.greedy else sampler.probs(forward.logits)
        verified = verify(draft, target, sampler, self._rule)
        self.cache.keep(start, [*range(last + 1), *(last + 1 + node for node in verified.path)])
        return forward, verified, target


def _outcome(unread: tuple[int, ...], done: Round, forward: Forward) -> Outcome:
    """What the proposer observes of a round: the rows of the target's pass that stay."""
    path = done.verified.path
    rows: list[int] | slice = slice(len(unread))
    if path:
        rows = [*range(len(unread)), *(len(unread) + node for node in path)]
    return Outcome(
        token_ids=(*unread, *(done.draft.token_ids[node] for node in path)),
        path=path,
        next_token=done.verified.next_token,
        hidden=forward.hidden[rows],
        taps=None if forward.taps is None else forward.taps[rows],
    )
