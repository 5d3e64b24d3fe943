"""The training losses of the target and the draft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

from specviz.training.fit import Loss
from specviz.training.precision import autocast
from specviz.training.stream.batches import Batch, alone

# Of the documents that a CPU reads at once: enough for efficient products, few for little padding.
GROUP_TOKENS = 800


@dataclass(frozen=True)
class Reading:
    """Rows of which no document reads another one, on the device.

    `ids` and `weights` [rows, length] as in a batch, `positions` [rows, length] in the document,
    `visible` [rows, 1, length, length] says which tokens a token reads (None: all before it).
    """

    ids: Tensor
    weights: Tensor
    positions: Tensor | None = None
    visible: Tensor | None = None


def next_token_loss(model: LlamaForCausalLM, device: str) -> Loss:
    """Weighted cross-entropy of the next token."""

    def loss(reading: Reading) -> tuple[Tensor, Tensor]:
        weights = reading.weights[:, 1:]
        kept = weights > 0
        logits = _logits(model, reading, kept)
        each = functional.cross_entropy(logits, reading.ids[:, 1:][kept], reduction="none")
        return (each * weights[kept]).sum(), weights.sum()

    return _of_batch(loss, device)


def distillation_loss(draft: LlamaForCausalLM, target: LlamaForCausalLM, device: str) -> Loss:
    """KL divergence from the target's next-token distribution to the draft's, in answers only.

    Speculative decoding accepts a sampled token with probability sum(min(target, draft)), and a
    greedy one where the two argmaxes agree; both rise as the draft's distribution nears the
    target's (https://arxiv.org/abs/2310.08461).
    """

    def loss(reading: Reading) -> tuple[Tensor, Tensor]:
        kept = reading.weights[:, 1:] == 1.0
        with torch.no_grad():
            wanted = functional.log_softmax(_logits(target, reading, kept), dim=-1)
        given = functional.log_softmax(_logits(draft, reading, kept), dim=-1)
        total = functional.kl_div(given, wanted, log_target=True, reduction="sum")
        return total, kept.sum()

    return _of_batch(loss, device)


def _of_batch(loss: Callable[[Reading], tuple[Tensor, Tensor]], device: str) -> Loss:
    """`loss` summed over a batch."""
    readings = _apart if device == "cpu" else _together

    def summed(batch: Batch) -> tuple[Tensor, float]:
        totals, weights = zip(*map(loss, readings(batch, device)), strict=True)
        return torch.stack(totals).sum(), float(torch.stack(weights).sum())

    return summed


def _apart(batch: Batch, device: str) -> list[Reading]:
    """A row for every document: a CPU needs as long for what a mask hides as for the rest."""
    return [Reading(part.ids, part.weights) for part in alone(batch, GROUP_TOKENS)]


def _together(batch: Batch, device: str) -> list[Reading]:
    """The batch at once, behind a mask: a GPU needs as long for a small product as for a large."""
    on_device = Batch(batch.ids.to(device), batch.weights.to(device), batch.next_document)
    starts = on_device.starts()
    columns = torch.arange(starts.shape[1], device=device)
    visible = (starts[:, :, None] == starts[:, None]) & (columns[:, None] >= columns)
    return [Reading(on_device.ids, on_device.weights, columns - starts, visible[:, None])]


def _logits(model: LlamaForCausalLM, reading: Reading, kept: Tensor) -> Tensor:
    """float32 logits [kept positions, vocabulary]; `kept` is [rows, length - 1]."""
    with autocast(reading.ids.device.type):
        hidden = model.model(
            input_ids=reading.ids,
            position_ids=reading.positions,
            attention_mask=reading.visible,
            use_cache=False,
        ).last_hidden_state[:, :-1]
        logits: Tensor = model.lm_head(hidden[kept])
    return logits.float()
