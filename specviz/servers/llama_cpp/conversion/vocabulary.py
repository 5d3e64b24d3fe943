"""A Hugging Face tokenizer in GGUF's words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specviz.errors import UsageError

LLAMA_3 = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
"""The beginning of what distinguishes Llama 3's pattern from GPT-2's."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`tokens[i]` is the text of token i as in `tokenizer.json`, `added` those that are no part of
    text, `splits` llama.cpp's name for how text is split before the merges."""

    tokens: tuple[str, ...]
    added: frozenset[str]
    merges: tuple[str, ...]
    splits: str
    bos_id: int | None
    eos_id: int | None
    pad_id: int | None
    starts_with_bos: bool
    chat_template: str | None


def read_vocabulary(folder: Path, size: int) -> Vocabulary:
    """The tokenizer of a model with `size` embeddings.

    Raises UsageError for one that llama.cpp would split differently, or that cannot be read.
    """
    tokenizer = _json(folder / "tokenizer.json")
    settings = _json(folder / "tokenizer_config.json")
    try:
        return _vocabulary(folder, tokenizer, settings, size)
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{folder / 'tokenizer.json'} is not a complete tokenizer ({error}): copy it again."
        ) from error


def _vocabulary(
    folder: Path, tokenizer: Mapping[str, Any], settings: Mapping[str, Any], size: int
) -> Vocabulary:
    model = tokenizer["model"]
    splits = _splits(tokenizer)
    if model.get("type") != "BPE" or model.get("byte_fallback") or splits is None:
        raise UsageError(
            f"The tokenizer of {folder} is not byte-level BPE as GPT-2, SmolLM or Llama 3 have it: "
            "convert the model with llama.cpp's convert_hf_to_gguf.py and give the .gguf file."
        )
    added = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    ids: dict[str, int] = {**model["vocab"], **added}
    text = {token_id: token for token, token_id in ids.items()}
    if max(text) >= size:
        raise UsageError(
            f"The tokenizer of {folder} has more tokens than the model's {size:,} embeddings: "
            "one of the two is another model's."
        )
    named = {
        name: ids.get(_content(settings.get(f"{name}_token"))) for name in ("bos", "eos", "pad")
    }
    return Vocabulary(
        tokens=tuple(text.get(token_id, f"[PAD{token_id}]") for token_id in range(size)),
        added=frozenset(added),
        merges=tuple(pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]),
        splits=splits,
        bos_id=named["bos"],
        eos_id=named["eos"],
        pad_id=named["pad"],
        starts_with_bos=named["bos"] is not None and settings.get("add_bos_token") is not False,
        chat_template=_chat_template(folder, settings),
    )


def _splits(tokenizer: Mapping[str, Any]) -> str | None:
    """llama.cpp's name for the pre-tokeniser, None for one that is not known here."""
    if tokenizer.get("normalizer"):
        return None
    before = tokenizer.get("pre_tokenizer") or {}
    parts = before.get("pretokenizers") or [before]
    kinds = [part.get("type") for part in parts]
    if kinds[-1] != "ByteLevel" or parts[-1].get("add_prefix_space"):
        return None
    by_regex = parts[-1].get("use_regex", True)
    if kinds == ["ByteLevel"] and by_regex:
        return "gpt-2"
    if kinds == ["Digits", "ByteLevel"] and by_regex and parts[0].get("individual_digits"):
        return "smollm"
    if kinds == ["Split", "ByteLevel"] and LLAMA_3 in str(parts[0].get("pattern")):
        return "llama-bpe"
    return None


def _content(token: Any) -> str:
    """A special token is its text, or an object that has it."""
    return str((token.get("content") if isinstance(token, dict) else token) or "")


def _chat_template(folder: Path, settings: Mapping[str, Any]) -> str | None:
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    found = settings.get("chat_template")
    return found if isinstance(found, str) else None


def _json(file: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read ({error}): copy it again.") from error
    return data
