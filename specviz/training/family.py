"""The architectures of the demo family, its folders, and how models are written to disk.

Target and draft are plain Llama models with the same tokenizer, so transformers and vLLM load them
without custom code. The draft has two layers because one layer cannot copy: copying from the
prompt (an induction head) needs one layer to look back and a second to use the result. The
EAGLE heads have one, because the target's features already contain the context.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.training.induction import build_induction_heads
from specviz.training.tokenizer import VOCAB_SIZE

TARGET_NAME, DRAFT_NAME = "demo-target", "demo-draft"
MEDUSA_NAME, EAGLE_NAME, EAGLE3_NAME = "demo-medusa", "demo-eagle", "demo-eagle3"
SPECULATORS_NAME = "demo-eagle3-speculators"
HEAD_NAMES = {"medusa": MEDUSA_NAME, "eagle": EAGLE_NAME, "eagle3": EAGLE3_NAME}
MAX_POSITIONS = 2048


def target_config() -> LlamaConfig:
    """8 layers of 384: about 14 M parameters, 28 MB in bf16."""
    return _llama_config(layers=8, hidden=384, intermediate=1024, heads=6, kv_heads=2)


def draft_config() -> LlamaConfig:
    """2 layers of 256: about 2.5 M parameters, 5 MB in bf16."""
    return _llama_config(layers=2, hidden=256, intermediate=704, heads=4, kv_heads=2)


def eagle_config() -> LlamaConfig:
    """One layer of the target's shape: 1.9 M parameters with the fusion."""
    return _llama_config(layers=1, hidden=384, intermediate=1024, heads=6, kv_heads=2)


def eagle3_config() -> LlamaConfig:
    """One layer with a narrower MLP, because every draft step reads all of it: 1.3 M parameters,
    0.4 M of the fusion, which runs once a step, and 1.1 M of the vocabulary matrix."""
    return _llama_config(layers=1, hidden=384, intermediate=640, heads=6, kv_heads=2)


def _llama_config(
    *, layers: int, hidden: int, intermediate: int, heads: int, kv_heads: int
) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=VOCAB_SIZE,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=64,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=0,
    )


def new_model(config: LlamaConfig, seed: int) -> LlamaForCausalLM:
    """A float32 model that has read nothing and can copy."""
    torch.manual_seed(seed)
    model = LlamaForCausalLM(config)
    build_induction_heads(model, seed)
    return model


def export_model(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a bf16 copy of `model` and the tokenizer to `folder`, replacing it in one rename.

    A reader sees the old files or the new ones, never a partial model.
    """
    fresh, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    half = LlamaForCausalLM(model.config).to(torch.bfloat16)
    half.load_state_dict(model.state_dict())
    half.generation_config = GenerationConfig(
        do_sample=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    half.save_pretrained(fresh)
    tokenizer.save_pretrained(fresh)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
