"""Tiny targets with a tokenizer of words, and prompts that they can read."""

from __future__ import annotations

import random
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from specviz.config import Prompt
from specviz.engines.embedded.opening import loaded_model, tokenizer_in
from specviz.training.answers import Generation
from tests.support.embedded.tiny_models import CPU, tiny_model

WORDS = ("<pad>", "<end>", *(f"w{number}" for number in range(2, 48)))


def save_target(folder: Path, kind: str = "llama") -> Path:
    """A random target."""
    return _saved(tiny_model(kind, num_hidden_layers=4), folder)


def save_predictable(folder: Path) -> Path:
    """A target that goes through all words in one order, wherever it begins."""
    model = tiny_model("llama untied", num_hidden_layers=4)
    following = torch.randperm(len(WORDS) - 2, generator=torch.Generator().manual_seed(5)) + 2
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "o_proj" in name or "down_proj" in name:
                weight.mul_(0.02)
        model.lm_head.weight[following] = model.model.embed_tokens.weight[following.roll(1)]
    return _saved(model, folder)


def _saved(model: PreTrainedModel, folder: Path) -> Path:
    model.save_pretrained(folder)
    words = Tokenizer(WordLevel({word: id_ for id_, word in enumerate(WORDS)}, unk_token="<pad>"))
    words.pre_tokenizer = WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(folder)
    return folder


def texts(count: int, seed: int = 3) -> list[str]:
    """Different prompts of up to 12 words."""
    rng = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found[" ".join(rng.choices(WORDS[2:], k=rng.randint(2, 12)))] = None
    return [*found]


def generation(folder: Path, count: int, *, rows: int = 4, longest: int = 16) -> Generation:
    """What the target in `folder` is asked."""
    prompts = tuple(Prompt(text, f"key-{at}") for at, text in enumerate(texts(count)))
    target = loaded_model(folder, "float32", CPU)
    return Generation(target, tokenizer_in(folder), prompts, seed=1, rows=rows, longest=longest)
