"""A target of a few thousand parameters, documents for it, and one of every head."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.training.heads.heads import Eagle, Eagle3, FeatureHead, Medusa
from specviz.training.stream.encoding import Encoded

VOCABULARY, HIDDEN, LAYERS = 32, 16, 3
KNOWN = [1, *range(4, 30)]
NAMES = ("medusa", "eagle", "eagle3")


def tiny_config(layers: int = LAYERS) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=24, num_hidden_layers=layers,
        num_attention_heads=2, num_key_value_heads=1, head_dim=8, tie_word_embeddings=True,
        pad_token_id=0, eos_token_id=1, bos_token_id=None, initializer_range=0.3,
    )  # fmt: skip


def tiny_target() -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(tiny_config()).eval().requires_grad_(False)


def tiny_head(name: str, target: LlamaForCausalLM) -> Medusa | FeatureHead:
    """A head whose branches are not zero, as they are at first."""
    torch.manual_seed(1)
    head: Medusa | FeatureHead
    if name == "medusa":
        head = Medusa(target)
    elif name == "eagle":
        head = Eagle(target, tiny_config(1))
    else:
        head = Eagle3(target, tiny_config(1), {0: 1.0, 1: 1.5, LAYERS: 2.0}, torch.tensor(KNOWN))
    for parameter in head.parameters():
        if parameter.ndim == 2:
            nn.init.normal_(parameter, std=0.3)
    return head.eval()


def documents() -> list[Encoded]:
    """Three documents of different lengths."""
    torch.manual_seed(2)
    lengths = ((12, 4), (7, 3), (9, 6))
    return [
        Encoded([2, *torch.randint(4, 30, (n - 2,)).tolist(), 1], answer) for n, answer in lengths
    ]


def is_sorted(values: list[int]) -> bool:
    return all(a <= b for a, b in pairwise(values))
