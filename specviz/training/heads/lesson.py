"""The training data of a head: documents, the frozen target's hidden states, its distributions.

Positions of a document whose answer begins at P: the target has read up to t, token t+1 is known
but not read, and a draft proposes tokens t+2, t+3, … as a server does after each step. Such a t is
called an anchor; the first is P - 1, the end of the prompt. Draft step j proposes token t+2+j,
which the target itself predicts at position t+1+j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from specviz.training.stream.encoding import Encoded


@dataclass(frozen=True)
class Lesson:
    """A group of n documents of at most `length` tokens, with the target's outputs for them.

    `ids` [n, length] are padded on the right, which a causal model does not see. `anchors` [n, a]
    are positions, `valid` [n, a] says which of them propose a token inside of the document.
    `hidden` [n, length, H] is after the target's final norm, `taps` [n, length, layers * H] are
    the inputs of the layers asked for. `wanted` [valid anchors, tokens asked for] are the target's
    float32 probabilities at position anchor + 1, `entropy` [valid anchors] is theirs in nats.
    """

    ids: Tensor
    anchors: Tensor
    valid: Tensor
    hidden: Tensor
    taps: Tensor
    wanted: Tensor
    entropy: Tensor

    def at_step(self, values: Tensor, step: int) -> Tensor:
        """Of `values` [n, a, ...] those of anchors whose draft step `step` is in the document."""
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
def prepare(
    target: LlamaForCausalLM,
    group: Sequence[Encoded],
    layers: Sequence[int] = (),
    token_ids: Tensor | None = None,
) -> Lesson:
    """Run the target on `group`; keep the inputs of `layers` and the probabilities of
    `token_ids`, or of all tokens."""
    length = max(len(document.ids) for document in group)
    ids = torch.zeros(len(group), length, dtype=torch.long)
    for row, document in enumerate(group):
        ids[row, : len(document.ids)] = torch.tensor(document.ids)
    starts = torch.tensor([document.answer_start for document in group])[:, None]
    ends = torch.tensor([len(document.ids) for document in group])[:, None]
    width = max(1, int((ends - starts).max()) - 1)
    anchors = starts - 1 + torch.arange(width)
    valid = anchors + 2 < ends
    ids, anchors, valid = (tensor.to(target.device) for tensor in (ids, anchors, valid))
    anchors = anchors.clamp(max=length - 1)
    hidden, taps = read(target, ids, layers)
    after = (anchors + 1).clamp(max=length - 1)
    chosen = gather_rows(hidden, after)[valid]
    wanted = target.lm_head(chosen).float().softmax(-1)
    if token_ids is not None and len(token_ids) < wanted.shape[1]:
        wanted = wanted[:, token_ids]
    entropy = torch.special.entr(wanted).sum(-1)
    return Lesson(ids, anchors, valid, hidden, taps, wanted, entropy)


def read(target: LlamaForCausalLM, ids: Tensor, layers: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Hidden states after the final norm, and the inputs of `layers` concatenated.

    The index equal to the number of layers means the output of the last one, before the norm.
    Layer by layer, because transformers' own way of returning them is not thread-safe.
    """
    model = target.model
    x = model.embed_tokens(ids)
    positions = torch.arange(ids.shape[1], device=ids.device)[None]
    rotary = model.rotary_emb(x, positions)
    tapped = []
    for index, layer in enumerate(model.layers):
        if index in layers:
            tapped.append(x)
        x = layer(x, attention_mask=None, position_ids=positions, position_embeddings=rotary)
    if len(model.layers) in layers:
        tapped.append(x)
    taps = torch.cat(tapped, -1) if tapped else x[..., :0]
    return model.norm(x), taps


def gather_rows(values: Tensor, positions: Tensor) -> Tensor:
    """`values` [n, length, width] at `positions` [n, a]: [n, a, width]."""
    return values.gather(1, positions[..., None].expand(-1, -1, values.shape[-1]))
