"""Facts about a model folder, read without torch: family, parameters, bytes, tokenizer.

Hugging Face layout: `config.json`, `*.safetensors`, `tokenizer.json`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.analysis.advisor.draft import ModelFacts, Pair, TokenizerComparison
from specviz.checkpoints.files.safetensors import read_header
from specviz.checkpoints.tokenizers import TOKENIZER, first_difference
from specviz.errors import UsageError

BYTES_PER_VALUE = 2
"""Of a key or value: bf16."""


def read_pair(target: str, draft: str) -> Pair:
    """A target and a draft; a name instead of a folder leaves everything unknown."""
    return Pair(
        read_model(target), read_model(draft), compare_tokenizers(Path(target), Path(draft))
    )


def read_model(name: str) -> ModelFacts:
    """One folder. What cannot be read is None, with the reason in `problem`."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        reason = f"{name} is not a folder on this machine: its files cannot be compared"
        return ModelFacts(name, problem=reason)
    config = read_config(folder)
    if config is None:
        return ModelFacts(folder.name, problem=f"{folder.name} has no readable config.json")
    parameters, weight_bytes, problem = _weights(folder)
    if "quantization_config" in config:
        parameters = None
        problem = f"{folder.name} is quantised: its headers do not give the parameters"
    return ModelFacts(
        name=folder.name,
        family=config.get("model_type"),
        architecture=", ".join(config.get("architectures") or ()) or None,
        parameters=parameters,
        weight_bytes=weight_bytes,
        kv_bytes=_kv_bytes(config),
        context=config.get("max_position_embeddings"),
        problem=problem,
    )


def bytes_per_token(config: dict[str, Any]) -> int:
    """Keys and values of all layers, for one token: 2 · layers · KV heads · head size · bytes."""
    heads = int(config.get("num_attention_heads") or 1)
    kv_heads = int(config.get("num_key_value_heads") or heads)
    head_size = int(config.get("head_dim") or config.get("hidden_size", 0) // heads)
    layers = int(config.get("num_hidden_layers") or 1)
    return layers * kv_heads * head_size * 2 * BYTES_PER_VALUE


def read_config(model: Path) -> dict[str, Any] | None:
    """The language model's `config.json`, None if it is not there or not JSON."""
    try:
        config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict):
        return None
    text = config.get("text_config")  # multimodal models keep the language model's part here
    return {**config, **text} if isinstance(text, dict) else config


def _kv_bytes(config: Mapping[str, Any]) -> int | None:
    """Per token; None for a configuration without the sizes of a decoder."""
    try:
        return bytes_per_token(dict(config)) or None
    except (TypeError, ValueError, ZeroDivisionError):
        return None


def compare_tokenizers(target: Path, draft: Path) -> TokenizerComparison:
    """File against file: byte for byte, else the first difference that changes token ids."""
    folders = [folder.expanduser() for folder in (target, draft)]
    paths = [folder / TOKENIZER for folder in folders]
    missing = [str(path.parent) for path in paths if not path.is_file()]
    if missing:
        return TokenizerComparison(None, f"no {TOKENIZER} in {' and '.join(missing)}")
    ours, theirs = (path.read_bytes() for path in paths)
    if ours == theirs:
        return TokenizerComparison(True, f"{TOKENIZER} is byte-identical ({len(ours):,} bytes)")
    try:
        first = first_difference(folders[0], folders[1])
    except UsageError as error:
        return TokenizerComparison(None, f"{TOKENIZER} cannot be read: {error}")
    if first is None:
        return TokenizerComparison(
            True, "vocabulary, merges and special tokens are equal; the files differ elsewhere"
        )
    return TokenizerComparison(False, first.words)


def _weights(folder: Path) -> tuple[int | None, int | None, str | None]:
    """Parameters and bytes of all tensors, from the headers of the safetensors files."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        return None, None, f"{folder.name} has no safetensors weights"
    parameters = weight_bytes = 0
    for path in files:
        try:
            for tensor in read_header(path).values():
                parameters += math.prod(tensor.shape)
                weight_bytes += tensor.end - tensor.start
        except UsageError as error:
            return None, None, str(error)
    return parameters, weight_bytes, None
