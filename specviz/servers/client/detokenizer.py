"""Token ids to text: a local tokenizer where the model is on this machine, else the server's.

The text of the output is always the server's own; this only cuts it into tokens and names the
drafted tokens, which the server never turns into text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

UNFINISHED = "\ufffd"


class Detokenizer:
    """Texts of single tokens, fetched once each.

    `ask` asks the server for one: where its `tokenizer_file` is not on this machine.
    """

    def __init__(self, ask: Callable[[int], Awaitable[str]], tokenizer_file: Path | None) -> None:
        self._ask = ask
        self._texts: dict[int, str] = {}
        self._tokenizer: Any = _load_tokenizer(tokenizer_file) if tokenizer_file else None

    async def prepare(self, token_ids: Iterable[int]) -> None:
        """Make `text` know these ids. Raises httpx2.HTTPError if the server does not answer."""
        missing = [token_id for token_id in set(token_ids) if token_id not in self._texts]
        if self._tokenizer is not None:
            for token_id in missing:
                self._texts[token_id] = self._local_text(token_id)
        else:
            texts = await asyncio.gather(*(self._ask(token_id) for token_id in missing))
            self._texts.update(zip(missing, texts, strict=True))

    def text(self, token_id: int) -> str:
        """Text of the token alone; part of a character shows as U+FFFD."""
        return self._texts[token_id]

    def _local_text(self, token_id: int) -> str:
        piece = self._tokenizer.id_to_token(token_id)
        if piece is None:
            return UNFINISHED
        text: str = self._tokenizer.decode([token_id], skip_special_tokens=False)
        # SentencePiece decoders drop the space that starts a word
        return f" {text}" if piece.startswith("\u2581") and not text.startswith(" ") else text


def _load_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer  # only where the model is on this machine

    return Tokenizer.from_file(str(path))


def cut(text: str, pieces: Sequence[str]) -> list[str]:
    """Cut `text`, the server's, into one part per token, given each token's text alone.

    The parts always join to `text`. A token that ends inside a character gets "" and the one
    that completes it the whole character; special tokens that the server hides get "".
    """
    parts: list[str] = []
    rest = text
    for piece in pieces:
        start = rest.find(piece) if piece and UNFINISHED not in piece else -1
        if start < 0:
            parts.append("")
            continue
        if start > 0 and parts and not parts[-1]:
            parts[-1], start, rest = rest[:start], 0, rest[start:]
        parts.append(rest[: start + len(piece)])
        rest = rest[start + len(piece) :]
    if rest and parts:
        parts[-1] += rest
    return parts
