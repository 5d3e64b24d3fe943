"""Facts about a model folder, read without torch: family, parameters, bytes, tokenizer.

Hugging Face layout: `config.json`, `*.safetensors`, `tokenizer.json`.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.analysis.advisor.draft import ModelFacts, Pair, TokenizerComparison

TOKENIZER = "tokenizer.json"
BYTES_PER_VALUE = 2
"""Of a key or value: bf16."""
LARGEST_HEADER = 100_000_000
"""Bytes; the limit of the safetensors format itself."""


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
    paths = [folder.expanduser() / TOKENIZER for folder in (target, draft)]
    missing = [str(path.parent) for path in paths if not path.is_file()]
    if missing:
        return TokenizerComparison(None, f"no {TOKENIZER} in {' and '.join(missing)}")
    ours, theirs = (path.read_bytes() for path in paths)
    if ours == theirs:
        return TokenizerComparison(True, f"{TOKENIZER} is byte-identical ({len(ours):,} bytes)")
    try:
        first = _first_difference(json.loads(ours), json.loads(theirs))
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        return TokenizerComparison(None, f"{TOKENIZER} cannot be read: {error}")
    if first is None:
        return TokenizerComparison(
            True, "vocabulary, merges and special tokens are equal; the files differ elsewhere"
        )
    return TokenizerComparison(False, first)


def _first_difference(target: Mapping[str, Any], draft: Mapping[str, Any]) -> str | None:
    ours, theirs = target["model"], draft["model"]
    return (
        _other_value("kind of tokenizer", ours.get("type"), theirs.get("type"))
        or _other_vocabulary(_vocabulary(ours), _vocabulary(theirs))
        or _other_merge(ours.get("merges") or [], theirs.get("merges") or [])
        or _other_vocabulary(_special(target), _special(draft), "special token")
        or _other_value("normaliser", target.get("normalizer"), draft.get("normalizer"))
        or _other_value("pre-tokeniser", target.get("pre_tokenizer"), draft.get("pre_tokenizer"))
    )


def _other_value(name: str, ours: object, theirs: object) -> str | None:
    if ours == theirs:
        return None
    short = [json.dumps(value, ensure_ascii=False)[:60] for value in (ours, theirs)]
    return f"{name}: target {short[0]}, draft {short[1]}"


def _vocabulary(model: Mapping[str, Any]) -> dict[str, int]:
    """Ids by token; a unigram model lists its tokens in the order of their ids."""
    vocabulary = model.get("vocab") or {}
    if isinstance(vocabulary, dict):
        return vocabulary
    return {str(entry[0]): place for place, entry in enumerate(vocabulary)}


def _special(tokenizer: Mapping[str, Any]) -> dict[str, int]:
    return {token["content"]: token["id"] for token in tokenizer.get("added_tokens") or ()}


def _other_vocabulary(
    ours: Mapping[str, int], theirs: Mapping[str, int], noun: str = "token"
) -> str | None:
    """The token with the smallest id on which the two disagree."""
    if ours == theirs:
        return None
    different = {
        token for token in ours.keys() | theirs.keys() if ours.get(token) != theirs.get(token)
    }
    ids = {token: min(_ids(token, ours, theirs)) for token in different}
    first = min(sorted(different), key=ids.__getitem__)
    sides = [
        f"id {vocabulary[first]}" if first in vocabulary else "missing"
        for vocabulary in (ours, theirs)
    ]
    return (
        f"{noun} {first!r}: target {sides[0]}, draft {sides[1]}; "
        f"{len(different):,} differ ({len(ours):,} and {len(theirs):,} in all)"
    )


def _ids(token: str, ours: Mapping[str, int], theirs: Mapping[str, int]) -> list[int]:
    return [vocabulary[token] for vocabulary in (ours, theirs) if token in vocabulary]


def _other_merge(ours: list[Any], theirs: list[Any]) -> str | None:
    if ours == theirs:
        return None
    place = next(
        (place for place, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )
    return f"merge {place + 1:,} of {len(ours):,} and {len(theirs):,} differs"


def _weights(folder: Path) -> tuple[int | None, int | None, str | None]:
    """Parameters and bytes of all tensors, from the headers of the safetensors files."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        return None, None, f"{folder.name} has no safetensors weights"
    parameters = weight_bytes = 0
    for path in files:
        try:
            for tensor in _header(path).values():
                parameters += math.prod(tensor["shape"])
                start, end = tensor["data_offsets"]
                weight_bytes += end - start
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            return None, None, f"{path.name} of {folder.name} cannot be read: {error}"
    return parameters, weight_bytes, None


def _header(path: Path) -> dict[str, Any]:
    """https://huggingface.co/docs/safetensors: 8 bytes of length, then JSON."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > LARGEST_HEADER:
            raise ValueError("it is not a safetensors file")
        header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise ValueError("its header is not an object")
    return {name: entry for name, entry in header.items() if name != "__metadata__"}
