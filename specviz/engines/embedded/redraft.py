"""What a method would draft behind every token of an answer: the material of an exact redraft."""

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
    """Draft `k` tokens greedily behind every token of `answer`.

    `decoder` must `accept_nothing`. Tokens drafted beyond the end are judged by what the target
    would go on with, as in the loop that ends there.
    """
    follower = Follower(answer, device)
    rounds = [*islice(decoder.rounds(prompt_ids, follower, k), len(answer) + k)]
    said = [done.verified.next_token for done in rounds]
    behind = rounds[1 : len(answer)]
    return Redraft(
        k=k,
        output_tokens=len(answer),
        drafted=tuple(len(done.draft.token_ids) for done in behind),
        matched=tuple(_matched(done, said[place:]) for place, done in enumerate(behind, start=1)),
    )


def accept_nothing(
    draft: Draft, children: Sequence[int], target: Tensor, sampler: Sampler
) -> tuple[list[Judgement], Tensor]:
    """A rule that moves on by one token a step, so that every position is drafted from."""
    return [Judgement(Verdict.REJECTED)], target


class Follower(Sampler):
    """Says a given answer, token by token, and then the target's first choice."""

    def __init__(self, answer: Sequence[int], device: torch.device) -> None:
        super().__init__(Sampling(), device)
        self._answer = iter(answer)

    def draw(self, probs: Tensor) -> int:
        said = next(self._answer, None)
        return super().draw(probs) if said is None else said


def _matched(done: Round, said: Iterable[int]) -> int:
    """How many of the round's draft tokens in a row were said."""
    count = 0
    for token, true in zip(done.draft.token_ids, said, strict=False):
        if token != true:
            break
        count += 1
    return count
