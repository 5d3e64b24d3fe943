"""Prompts to token ids, and token ids to text as they stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from tokenizers.decoders import DecodeStream

from specviz.errors import UsageError


class ChatTokenizer:
    """A checkpoint's tokenizer with its chat template."""

    def __init__(self, folder: Path) -> None:
        from transformers import PreTrainedTokenizerFast

        try:
            self._tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(folder)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{folder} has no tokenizer that can be read ({error}): put the model's "
                "tokenizer.json there."
            ) from error
        self._texts: dict[int, str] = {}

    def text(self, token_id: int) -> str:
        """Text of the token alone; part of a character shows as U+FFFD."""
        if token_id not in self._texts:
            text = self._tokenizer.decode([token_id])
            # SentencePiece decoders drop the space that starts a word
            starts_word = str(self._tokenizer.convert_ids_to_tokens(token_id)).startswith("\u2581")
            self._texts[token_id] = f" {text}" if starts_word and text[:1] != " " else text
        return self._texts[token_id]

    def encode_chat(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Token ids of a conversation, ready for the answer; plain text without a template."""
        if not self._tokenizer.chat_template:
            text = "\n\n".join(message["content"] for message in messages)
            return cast(list[int], self._tokenizer.encode(text))
        return cast(
            list[int],
            self._tokenizer.apply_chat_template(
                list(messages),
                add_generation_prompt=True,
                tokenize=True,
                return_dict=False,
            ),
        )

    @property
    def backend(self) -> Any:
        """The `tokenizers.Tokenizer` inside."""
        return self._tokenizer.backend_tokenizer


class TextStream:
    """The answer's text, token by token.

    A token that ends inside a character gives ""; the one that completes it gives the character.
    """

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self._backend = tokenizer.backend
        self._stream = DecodeStream(skip_special_tokens=True)

    def push(self, token_id: int) -> str:
        """The text that this token adds."""
        return self._stream.step(self._backend, token_id) or ""
