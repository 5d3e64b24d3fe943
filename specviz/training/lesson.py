"""The lesson of a draft from a group of answers: the target's hidden states and distributions.

Positions of a text whose answer begins at P: the target has read up to t, token t+1 is known but
not read, and a draft proposes tokens t+2, t+3, … as an engine does after each step. Such a t is
called an anchor; the first is P - 1, the end of the prompt. Draft step j proposes token t+2+j,
which the target itself predicts at position t+1+j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from specviz.engines.embedded.model import Llama
from specviz.training.answers import Answer
from specviz.training.target import padded, read

GROUP_TOKENS = {"cpu": 1600, "cuda": 16_384}
"""Texts of similar length are read together, so many that they have about this many tokens."""


@dataclass(frozen=True)
class Lesson:
    """A group of n texts of at most `length` tokens, with the target's outputs for them.

    `ids` [n, length] are padded on the right. `anchors` [n, a] are positions, `valid` [n, a] says
    which of them propose a token inside of the text. `hidden` [n, length, H] is after the target's
    final norm, `taps` [n, length, layers * H] are the inputs of the layers asked for. `wanted`
    [valid anchors, tokens] are the target's probabilities at anchor + 1 among the tokens that are
    learned, `entropy` [valid anchors] is theirs in nats.
    """

    ids: Tensor
    anchors: Tensor
    valid: Tensor
    hidden: Tensor
    taps: Tensor
    wanted: Tensor
    entropy: Tensor

    def at_step(self, values: Tensor, step: int) -> Tensor:
        """Those of `values` [n, a, ...] of anchors whose draft step `step` is in the text."""
        return values[:, : max(0, values.shape[1] - step)][self.valid[:, step:]]

    def wanted_at(self, step: int) -> tuple[Tensor, Tensor]:
        """The target's probabilities of what draft step `step` proposes, and their entropies, in
        `at_step`'s order."""
        rows = (self.valid.flatten().cumsum(0) - 1).view_as(self.valid)
        kept = rows[:, step:][self.valid[:, step:]]
        return self.wanted[kept], self.entropy[kept]

    def tokens_at(self, step: int) -> Tensor:
        """Token anchor + 1 + `step` [n, a], what draft step `step` reads."""
        return self.ids.gather(1, self.positions(1 + step))

    def positions(self, offset: int) -> Tensor:
        """Anchor + `offset` [n, a]; those behind the group's last column repeat it."""
        return (self.anchors + offset).clamp(max=self.ids.shape[1] - 1)


@torch.no_grad()
def prepare(target: Llama, group: Sequence[Answer], layers: Sequence[int], rows: Tensor) -> Lesson:
    """Run the target on `group`; `rows` [tokens, H] of its vocabulary matrix are learned."""
    ids = padded([one.prompt_ids + one.answer_ids for one in group], target.device)
    starts = torch.tensor([len(one.prompt_ids) for one in group], device=target.device)[:, None]
    lengths = torch.tensor([len(one.answer_ids) for one in group], device=target.device)[:, None]
    ends, width = starts + lengths, max(1, int(lengths.max()) - 1)
    anchors = starts - 1 + torch.arange(width, device=target.device)
    valid = anchors + 2 < ends
    anchors = anchors.clamp(max=ids.shape[1] - 1)
    reading = read(target, ids, layers)
    after = (anchors + 1).clamp(max=ids.shape[1] - 1)
    chosen = gather_rows(reading.hidden, after)[valid]
    wanted = functional.linear(chosen, rows.to(chosen.dtype)).float().softmax(-1)
    entropy = torch.special.entr(wanted).sum(-1)
    return Lesson(ids, anchors, valid, reading.hidden, reading.taps, wanted, entropy)


def groups(answers: Sequence[Answer], tokens: int) -> Iterator[list[Answer]]:
    """`answers` by length, cut where a group would exceed `tokens`, padding included."""
    group: list[Answer] = []
    for one in sorted(answers, key=text_length):
        if group and (len(group) + 1) * text_length(one) > tokens:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def text_length(answer: Answer) -> int:
    """Tokens of prompt and answer."""
    return len(answer.prompt_ids) + len(answer.answer_ids)


def gather_rows(values: Tensor, positions: Tensor) -> Tensor:
    """`values` [n, length, width] at `positions` [n, a]: [n, a, width]."""
    return values.gather(1, positions[..., None].expand(-1, -1, values.shape[-1]))
