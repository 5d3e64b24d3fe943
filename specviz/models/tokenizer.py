"""The tokenizer of a GGUF file in the format of Hugging Face."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from specviz.checkpoints.files.gguf import GgufFile
from specviz.checkpoints.files.written import write_json
from specviz.errors import UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

KIND = ("gpt2", "smollm")
"""GGUF's model and pre-tokeniser: byte-level BPE over GPT-2's words, each digit alone."""

CONTROL, USER_DEFINED = 3, 4
"""Types of tokens that are found in a text before it is split: llama.cpp's `llama_token_attr`."""


def write_tokenizer(file: GgufFile, folder: Path) -> None:
    """tokenizer.json, and tokenizer_config.json with the chat template. Raises UsageError."""
    kind = tuple(file.metadata.get(f"tokenizer.ggml.{name}") for name in ("model", "pre"))
    if kind != KIND:
        raise UsageError(
            f"{file.path} has a tokenizer of the kind {kind[0]}, {kind[1]}, and specviz writes "
            f"{', '.join(KIND)} only: name the model's own Hugging Face folder."
        )
    try:
        tokenizer = _tokenizer(file)
        settings = _settings(file)
    except (ValueError, LookupError, TypeError) as error:
        raise UsageError(
            f"{file.path} has no complete tokenizer ({error}): copy it again."
        ) from error
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", settings)


def token_id(file: GgufFile, name: str) -> int | None:
    """The id of the token `bos`, `eos`, `padding` or `unknown`."""
    found = file.metadata.get(f"tokenizer.ggml.{name}_token_id")
    return found if type(found) is int else None


def _tokenizer(file: GgufFile) -> Tokenizer:
    """Raises ValueError for what does not go together, LookupError for what is missing."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens = file.metadata["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in file.metadata["tokenizer.ggml.merges"]]
    ids = {token: place for place, token in enumerate(tokens)}
    for pair in merges:
        if len(pair) != 2 or not {*pair, "".join(pair)} <= ids.keys():
            raise ValueError(f"the merge {' '.join(pair)[:80]!r} is not of its tokens")
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(
        [
            AddedToken(token, normalized=False, special=kind == CONTROL)
            for token, kind in zip(tokens, file.metadata["tokenizer.ggml.token_type"], strict=True)
            if kind in (CONTROL, USER_DEFINED)
        ]
    )
    return tokenizer


def _settings(file: GgufFile) -> dict[str, Any]:
    tokens = file.metadata["tokenizer.ggml.tokens"]
    named = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
    ids = {ours: token_id(file, theirs) for ours, theirs in named.items()}
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_bos_token": file.metadata.get("tokenizer.ggml.add_bos_token", False),
        "clean_up_tokenization_spaces": False,
        "model_max_length": file.size("context_length"),
        "chat_template": file.metadata.get("tokenizer.chat_template"),
        **{f"{name}_token": tokens[one] for name, one in ids.items() if one is not None},
    }
    return {name: value for name, value in settings.items() if value is not None}
