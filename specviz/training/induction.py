"""Models that copy before they have learnt anything: induction heads by construction.

Copying a name from the prompt takes two heads in two layers: one brings every token what came
before it, the other looks for the place that the current token came before, and copies what
follows there (Olsson et al., In-context Learning and Induction Heads,
https://arxiv.org/abs/2209.11895). Training finds them late; here they are built, and training
learns when to use them.

A token's vector is divided at the start: one constant, the token's own content, and the place
where the previous token's content is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import torch
from torch import Generator, Tensor
from transformers import LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaAttention

CONTENT_STD = 0.05
CONSTANT = 0.4
FAST_PAIRS = 9
"""The pairs of RoPE dimensions that turn fast enough to tell one place from the next."""
PREVIOUS_LOGIT = 6.0
"""The attention logit of the place before, per fast pair."""
MATCH_LOGIT = 25.0
"""The attention logit of a place that came after the same token."""
COPIED = 4.0
"""How large what is copied is, next to the content of the token that reads it."""


@dataclass(frozen=True)
class Parts:
    """The dimensions of a token's vector; the first one is the constant."""

    content: slice
    before: slice
    seen: Tensor
    """What of a content is written to `before` of the next token: orthonormal rows."""


@torch.no_grad()
def build_induction_heads(model: LlamaForCausalLM, seed: int) -> None:
    """Set the weights of an untrained model so that it copies, in place.

    Layer 0 has one previous-token head and layer 1 one induction head per key-value head; what
    every other head and MLP writes begins at zero.
    """
    random = torch.Generator().manual_seed(seed)
    width, head = model.config.hidden_size, model.config.head_dim
    content, before = slice(1, width - head), slice(width - head, width)
    embeddings = model.model.embed_tokens.weight
    embeddings.normal_(std=CONTENT_STD, generator=random)
    embeddings[:, 0] = CONSTANT
    embeddings[:, before] = 0
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
    parts = Parts(content, before, _orthonormal(head, content, random))
    first, second = (layer.self_attn for layer in model.model.layers[:2])
    _look_back(first, parts, _scale(model, content.stop - 1))
    scale = _scale(model, width - 1)
    for group in range(model.config.num_key_value_heads):
        _look_up(second, group, parts, scale)
        _copy(second, group, content, _orthonormal(head, content, random), scale)


def _scale(model: LlamaForCausalLM, dimensions: int) -> float:
    """What RMSNorm multiplies a vector by that has the constant and so many content dimensions."""
    square = CONTENT_STD**2 * dimensions + CONSTANT**2
    return sqrt(model.config.hidden_size / square)


def _orthonormal(rows: int, columns: slice, random: Generator) -> Tensor:
    found: Tensor = torch.linalg.qr(
        torch.randn(columns.stop - columns.start, rows, generator=random)
    )[0]
    return found.T


def _look_back(attention: LlamaAttention, parts: Parts, scale: float) -> None:
    """Head 0 attends to the previous token and writes what is seen of it to `before`.

    Keys are the same everywhere, and queries the same turned by one place, so that RoPE alone
    decides.
    """
    head = attention.head_dim
    own = slice(0, head)
    base = attention.config.rope_parameters["rope_theta"]
    angle = base ** (-torch.arange(FAST_PAIRS) * 2 / head)
    size = sqrt(PREVIOUS_LOGIT * sqrt(head)) / (CONSTANT * scale)
    for weight in (attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight):
        weight[own] = 0
    attention.k_proj.weight[:FAST_PAIRS, 0] = size
    attention.q_proj.weight[:FAST_PAIRS, 0] = size * angle.cos()
    attention.q_proj.weight[head // 2 : head // 2 + FAST_PAIRS, 0] = -size * angle.sin()
    attention.v_proj.weight[own, parts.content] = parts.seen
    attention.o_proj.weight[parts.before, own] = torch.eye(head) / scale


def _look_up(attention: LlamaAttention, group: int, parts: Parts, scale: float) -> None:
    """The group's first head attends where the token before is the current one.

    It compares half of what is seen, in the dimensions that RoPE hardly turns.
    """
    head = attention.head_dim
    half = head // 2
    slow = torch.cat([torch.arange(head // 4, half), torch.arange(head // 4, half) + half])
    compared = torch.arange(half) + half * (group % 2)
    size = sqrt(MATCH_LOGIT * sqrt(head) / half) / (CONTENT_STD * scale)
    query, key = _first_head(attention, group), slice(group * head, (group + 1) * head)
    attention.q_proj.weight[query] = 0
    attention.q_proj.weight[slow + query.start, parts.content] = size * parts.seen[compared]
    attention.k_proj.weight[key] = 0
    attention.k_proj.weight[slow + key.start, parts.before.start + compared] = size


def _copy(
    attention: LlamaAttention, group: int, content: slice, copied: Tensor, scale: float
) -> None:
    """The group's first head writes what it attends to, as if that were the token itself."""
    head = attention.head_dim
    value = slice(group * head, (group + 1) * head)
    attention.v_proj.weight[value] = 0
    attention.v_proj.weight[value, content] = copied
    attention.o_proj.weight[content, _first_head(attention, group)] = copied.T * COPIED / scale


def _first_head(attention: LlamaAttention, group: int) -> slice:
    head = attention.head_dim
    start = group * attention.num_key_value_groups * head
    return slice(start, start + head)
