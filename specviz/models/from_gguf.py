"""A GGUF file of a plain Llama as a Hugging Face folder, without torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specviz.checkpoints.files.gguf import GgufFile, read_gguf
from specviz.checkpoints.files.written import Written, write_json, write_safetensors
from specviz.errors import UsageError
from specviz.models.names import hugging_face_name, in_halves, turned_heads
from specviz.models.tokenizer import token_id, write_tokenizer

Progress = Callable[[int, int], None]
"""Gets the bytes of weights that are written, and all of them."""


def write_model(source: Path, folder: Path, progress: Progress = lambda done, total: None) -> None:
    """Write configuration, tokenizer and weights into `folder`, which exists.

    Weights are dequantised and rounded to bfloat16. Raises UsageError for anything but a plain
    Llama, OSError where `folder` cannot be written.
    """
    file = read_gguf(source)
    config = _config(file)
    ids = {"bos": token_id(file, "bos"), "eos": token_id(file, "eos")}
    ids["pad"] = token_id(file, "padding")
    named = {f"{name}_token_id": one for name, one in ids.items() if one is not None}
    tensors = _tensors(file, config)
    write_json(folder / "config.json", config | named)
    write_json(folder / "generation_config.json", named)
    write_tokenizer(file, folder)
    total, done = sum(tensor.size for tensor in tensors.values()), 0

    def wrote(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    write_safetensors(folder / "model.safetensors", tensors, wrote)


def _config(file: GgufFile) -> dict[str, Any]:
    heads = _size(file, "attention.head_count")
    hidden = _size(file, "embedding_length")
    head_dim = file.size("attention.key_length") or hidden // max(heads, 1)
    rotated = file.size("rope.dimension_count") or head_dim
    scaling = file.metadata.get(f"{file.architecture}.rope.scaling.type", "none")
    if file.architecture != "llama" or rotated != head_dim or scaling != "none":
        raise UsageError(
            f"{file.path} is not a plain Llama: name the model's own Hugging Face folder."
        )
    theta = _number(file, "rope.freq_base", 10_000.0)
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "bfloat16",
        "hidden_size": hidden,
        "intermediate_size": _size(file, "feed_forward_length"),
        "num_hidden_layers": _size(file, "block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": file.size("attention.head_count_kv") or heads,
        "head_dim": head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": _number(file, "attention.layer_norm_rms_epsilon", 1e-5),
        "rope_parameters": {"rope_type": "default", "rope_theta": theta},
        "rope_theta": theta,  # for transformers before 5
        "max_position_embeddings": _size(file, "context_length"),
        "vocab_size": len(file.tokens or ()),
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "attention_bias": False,
        "mlp_bias": False,
    }


def _size(file: GgufFile, key: str) -> int:
    found = file.size(key)
    if not found or found < 0:
        raise UsageError(f"{file.path} does not say its {key}: copy it again.")
    return found


def _number(file: GgufFile, key: str, usual: float) -> float:
    """A float32, in the digits that it was given in: 1e-05, not 9.999999747378752e-06."""
    return float(str(np.float32(file.metadata.get(f"{file.architecture}.{key}", usual))))


def _tensors(file: GgufFile, config: dict[str, Any]) -> dict[str, Written]:
    found = {}
    for name, tensor in file.tensors.items():
        renamed = hugging_face_name(name)
        if renamed is None:
            raise UsageError(
                f"{file.path} has the tensor {name[:80]}, which a plain Llama does not have: name "
                "the model's own Hugging Face folder."
            )
        heads = turned_heads(renamed, config["num_attention_heads"], config["num_key_value_heads"])
        shape = tuple(reversed(tensor.shape))
        found[renamed] = Written("BF16", shape, _reader(file, name, heads))
    return found


def _reader(file: GgufFile, name: str, heads: int | None) -> Callable[[], bytes]:
    """A function that reads one tensor as bfloat16, its rows in Hugging Face's order."""

    def read() -> bytes:
        rows = in_bfloat16(file, name)
        return bytes((rows if heads is None else in_halves(rows, heads)).tobytes())

    return read


def in_bfloat16(file: GgufFile, name: str) -> NDArray[Any]:
    """The bytes of a tensor's rows, dequantised and rounded to bfloat16. Raises UsageError."""
    from gguf import GGMLQuantizationType, dequantize, quantize  # a second to import

    tensor = file.tensors[name]
    stored = np.frombuffer(file.read(name), np.uint8).reshape(*tensor.shape[:0:-1], -1)
    try:
        values = dequantize(stored, GGMLQuantizationType(tensor.kind))
        return quantize(values, GGMLQuantizationType.BF16)
    except (NotImplementedError, ValueError) as error:
        raise UsageError(
            f"{name} in {file.path} cannot be read here ({error}): name the model's own Hugging "
            "Face folder."
        ) from error
