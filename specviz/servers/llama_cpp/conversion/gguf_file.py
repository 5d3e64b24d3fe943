"""One Hugging Face folder into one GGUF file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specviz.errors import UsageError
from specviz.models.names import gguf_name, in_pairs, turned_heads
from specviz.servers.llama_cpp.conversion.vocabulary import Vocabulary, read_vocabulary
from specviz.servers.llama_cpp.conversion.weights import Weights, tensors

if TYPE_CHECKING:
    from gguf import GGUFWriter

ARCHITECTURE = "LlamaForCausalLM"
UNSUPPORTED = ("attention_bias", "mlp_bias", "quantization_config")


def write_gguf(folder: Path, file: Path, *, as_stored: bool = False) -> None:
    """Write the model as float32. `file` appears when it is complete, never in part.

    `as_stored` keeps matrices of bfloat16 and float16 as they are: half the bytes. llama.cpp then
    rounds what it multiplies them with, so drafts change greedy answers more often.
    Raises UsageError for a model that is not a plain Llama, and for a `file` that is there and is
    no file: a folder, a device.
    """
    from gguf import GGUFWriter, LlamaFileType  # takes most of a second to import

    if file.exists() and not file.is_file():
        raise UsageError(f"{file} is no file that could be replaced: choose another place.")
    config = read_llama(folder)
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    writer = GGUFWriter(part, "llama")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        writer.add_name(folder.name)
        if not as_stored:  # else llama.cpp sees for itself
            writer.add_file_type(LlamaFileType.ALL_F32)
        _add_shape(writer, config)
        _add_vocabulary(writer, read_vocabulary(folder, config["vocab_size"]))
        for name, weights in tensors(folder):
            if not (config.get("tie_word_embeddings") and name == "lm_head.weight"):
                arranged = _arranged(name, weights, config)
                _add_tensor(writer, _name(name, folder), arranged, as_stored=as_stored)
        if factors := _rope_factors(config):
            writer.add_tensor("rope_freqs.weight", np.array(factors, dtype=np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        part.replace(file)
    except OSError as error:
        raise UsageError(
            f"{file} cannot be written ({error.strerror}): choose another place."
        ) from error
    finally:
        with suppress(OSError):  # most often it is not there
            part.unlink()


def read_llama(folder: Path) -> dict[str, Any]:
    """The configuration of a plain Llama. Raises UsageError for anything else, by name."""
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{folder} is not a model folder (config.json: {error}): name a folder with "
            "config.json, *.safetensors and tokenizer.json, or a .gguf file."
        ) from error
    found = ", ".join(config.get("architectures") or ()) or "no architecture"
    rope = _rope(config).get("rope_type", "default")
    extra = next((name for name in UNSUPPORTED if config.get(name)), None)
    if found != ARCHITECTURE or rope not in ("default", "llama3") or extra:
        why = found if found != ARCHITECTURE else extra or f"rope type {rope}"
        raise UsageError(
            f"specviz writes GGUF of plain {ARCHITECTURE} only, and {folder} has {why}: convert it "
            "with llama.cpp's convert_hf_to_gguf.py and give the .gguf file."
        )
    return config


def _add_shape(writer: GGUFWriter, config: Mapping[str, Any]) -> None:
    heads = config["num_attention_heads"]
    head_dim = _head_dim(config)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.get("num_key_value_heads") or heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(head_dim)
    writer.add_rope_freq_base(_rope(config).get("rope_theta", 10000.0))
    writer.add_vocab_size(config["vocab_size"])


def _add_vocabulary(writer: GGUFWriter, vocabulary: Vocabulary) -> None:
    from gguf import TokenType

    writer.add_tokenizer_model("gpt2")  # byte-level BPE
    writer.add_tokenizer_pre(vocabulary.splits)
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types(
        [
            TokenType.CONTROL if token in vocabulary.added else TokenType.NORMAL
            for token in vocabulary.tokens
        ]
    )
    writer.add_token_merges(vocabulary.merges)
    writer.add_add_bos_token(vocabulary.starts_with_bos)
    if vocabulary.bos_id is not None:
        writer.add_bos_token_id(vocabulary.bos_id)
    if vocabulary.eos_id is not None:
        writer.add_eos_token_id(vocabulary.eos_id)
    if vocabulary.pad_id is not None:
        writer.add_pad_token_id(vocabulary.pad_id)
    if vocabulary.chat_template:
        writer.add_chat_template(vocabulary.chat_template)


def _name(name: str, folder: Path) -> str:
    found = gguf_name(name)
    if found is None:
        raise UsageError(f"{folder} has the tensor {name}, which a plain Llama does not have.")
    return found


def _arranged(name: str, weights: Weights, config: Mapping[str, Any]) -> Weights:
    heads = config["num_attention_heads"]
    turned = turned_heads(name, heads, config.get("num_key_value_heads") or heads)
    return weights if turned is None else replace(weights, values=in_pairs(weights.values, turned))


def _add_tensor(writer: GGUFWriter, name: str, weights: Weights, *, as_stored: bool) -> None:
    """Vectors are float32 in every file."""
    from gguf import GGMLQuantizationType

    if as_stored and weights.values.ndim > 1 and weights.dtype != "F32":
        kind = GGMLQuantizationType[weights.dtype]
        writer.add_tensor(name, np.ascontiguousarray(weights.values).view(np.uint8), raw_dtype=kind)
    else:
        writer.add_tensor(name, np.ascontiguousarray(weights.float32()))


def _rope_factors(config: Mapping[str, Any]) -> list[float] | None:
    """What Llama 3.1 divides each rotary frequency by; None without its scaling.

    As `_compute_llama3_parameters` in transformers has it.
    """
    rope = _rope(config)
    if rope.get("rope_type", "default") != "llama3":
        return None
    factor, context = rope["factor"], rope["original_max_position_embeddings"]
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    factors = []
    for pair in range(_head_dim(config) // 2):
        wavelength = 2 * np.pi * rope["rope_theta"] ** (2 * pair / _head_dim(config))
        share = min(max((context / wavelength - low) / (high - low), 0.0), 1.0)
        factors.append(1 / ((1 - share) / factor + share))
    return factors


def _rope(config: Mapping[str, Any]) -> dict[str, Any]:
    """transformers 5 has all in `rope_parameters`, earlier ones beside `rope_scaling`."""
    if parameters := config.get("rope_parameters"):
        return dict(parameters)
    return {"rope_theta": config.get("rope_theta", 10000.0), **(config.get("rope_scaling") or {})}


def _head_dim(config: Mapping[str, Any]) -> int:
    return int(config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"])
