"""Drafting again after every token of a stored answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import torch
from torch import Tensor

from specviz.analysis.k.redraft import Redraft
from specviz.config import Sampling
from specviz.engines.embedded.decode import Decoder, Round
from specviz.engines.embedded.draft import Draft
from specviz.engines.embedded.sampler import Sampler
from specviz.engines.embedded.verify import Judgement
from specviz.trace import Verdict


def redraft(
    decoder: Decoder,
    prompt_ids: Sequence[int],
    answer: Sequence[int],
    k: int,
    device: torch.device,
) -> Redraft:
    """Draft `k` tokens greedily after every token of `answer`.

    `decoder` must use the rule `accept_nothing`. Tokens drafted beyond the end are judged by the
    target's continuation, as in the loop that ends there.
    """
    sampler = ScriptedSampler(answer, device)
    rounds = [*islice(decoder.rounds(prompt_ids, sampler, k), len(answer) + k)]
    text = [done.verified.next_token for done in rounds]
    drafting = rounds[1 : len(answer)]
    return Redraft(
        k=k,
        output_tokens=len(answer),
        drafted=tuple(len(done.draft.token_ids) for done in drafting),
        matched=tuple(_matched(done, text[place:]) for place, done in enumerate(drafting, start=1)),
    )


def accept_nothing(
    draft: Draft, children: Sequence[int], target: Tensor, sampler: Sampler
) -> tuple[list[Judgement], Tensor]:
    """A rule that advances one token per step, so that every position is drafted from."""
    return [Judgement(Verdict.REJECTED)], target


class ScriptedSampler(Sampler):
    """Emits a given answer token by token, then the target's first choices."""

    def __init__(self, answer: Sequence[int], device: torch.device) -> None:
        super().__init__(Sampling(), device)
        self._answer = iter(answer)

    def draw(self, probs: Tensor) -> int:
        token_id = next(self._answer, None)
        return super().draw(probs) if token_id is None else token_id


def _matched(done: Round, text: Iterable[int]) -> int:
    """How many of the round's draft tokens the text starts with."""
    count = 0
    for token, true in zip(done.draft.token_ids, text, strict=False):
        if token != true:
            break
        count += 1
    return count
