"""The training losses of the target and the draft."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

from specviz.training.batches import Batch, alone
from specviz.training.fit import Loss
from specviz.training.precision import autocast

# Of the documents that are read at once: enough for efficient products, few for little padding.
GROUP_TOKENS = {"cpu": 800, "cuda": 32_768}


def next_token_loss(model: LlamaForCausalLM, device: str) -> Loss:
    """Weighted cross-entropy of the next token."""

    def loss(part: Batch) -> tuple[Tensor, float]:
        weights = part.weights[:, 1:].to(device)
        ids = part.ids.to(device)
        kept = weights > 0
        logits = _logits(model, ids, kept, device)
        each = functional.cross_entropy(logits, ids[:, 1:][kept], reduction="none")
        return (each * weights[kept]).sum(), weights.sum().item()

    return _over_documents(loss, device)


def distillation_loss(draft: LlamaForCausalLM, target: LlamaForCausalLM, device: str) -> Loss:
    """KL divergence from the target's next-token distribution to the draft's, in answers only.

    Speculative decoding accepts a sampled token with probability sum(min(target, draft)), and a
    greedy one where the two argmaxes agree; both rise as the draft's distribution nears the
    target's (https://arxiv.org/abs/2310.08461).
    """

    def loss(part: Batch) -> tuple[Tensor, float]:
        ids = part.ids.to(device)
        kept = part.weights[:, 1:].to(device) == 1.0
        with torch.no_grad():
            wanted = functional.log_softmax(_logits(target, ids, kept, device), dim=-1)
        given = functional.log_softmax(_logits(draft, ids, kept, device), dim=-1)
        total = functional.kl_div(given, wanted, log_target=True, reduction="sum")
        return total, kept.sum().item()

    return _over_documents(loss, device)


def _over_documents(loss: Loss, device: str) -> Loss:
    """`loss` of a batch whose documents do not read each other."""

    def summed(batch: Batch) -> tuple[Tensor, float]:
        parts = [loss(part) for part in alone(batch, GROUP_TOKENS[device])]
        return torch.stack([total for total, _ in parts]).sum(), sum(weight for _, weight in parts)

    return summed


def _logits(model: LlamaForCausalLM, ids: Tensor, kept: Tensor, device: str) -> Tensor:
    """float32 logits [kept positions, vocabulary]; `kept` is [rows, length - 1]."""
    with autocast(device):
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
        logits: Tensor = model.lm_head(hidden[kept])
    return logits.float()
