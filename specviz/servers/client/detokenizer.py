"""Token ids to text: a local tokenizer where the model is on this machine, else the server's.

The text of the output is always the server's own; this only cuts it into tokens and names the
drafted tokens, which the server never turns into text.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import httpx2

from specviz.errors import MalformedReply
from specviz.trace import whole

UNFINISHED = "\ufffd"

ASKED_AT_ONCE = 16
CALL_TIMEOUT_S = 5.0
MAX_FAILURES = 3
"""After so many the server is not asked any more."""

PATIENCE_S = 60.0
"""Seconds that asking may take altogether."""


class Detokenizer:
    """Texts of single tokens, fetched once each.

    `ask` asks the server for one: where its `tokenizer_file` is not on this machine. A text that
    it does not give, or not in time, shows as U+FFFD: the answer goes on without.
    """

    def __init__(
        self,
        ask: Callable[[int], Awaitable[str]],
        tokenizer_file: Path | None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._ask = ask
        self._texts: dict[int, str] = {}
        self._tokenizer: Any = _load_tokenizer(tokenizer_file) if tokenizer_file else None
        self._left_s = patience_s
        self._failures = 0

    async def prepare(self, token_ids: Iterable[int]) -> None:
        """Make `text` know these ids, as far as they can be known."""
        missing = [token_id for token_id in set(token_ids) if token_id not in self._texts]
        if self._tokenizer is not None:
            for token_id in missing:
                self._texts[token_id] = self._local_text(token_id)
        elif missing:
            await self._ask_for(missing)

    def text(self, token_id: int) -> str:
        """Text of the token alone; part of a character, or an unknown one, shows as U+FFFD."""
        return self._texts.get(token_id, UNFINISHED)

    async def _ask_for(self, missing: list[int]) -> None:
        waiting = iter(missing)

        async def ask_in_turn() -> None:
            for token_id in waiting:
                if self._failures >= MAX_FAILURES:
                    return
                try:
                    async with asyncio.timeout(CALL_TIMEOUT_S):
                        self._texts[token_id] = whole(await self._ask(token_id))
                except (httpx2.HTTPError, MalformedReply, OSError, ValueError):
                    self._failures += 1

        began_s = time.perf_counter()
        askers = [asyncio.create_task(ask_in_turn()) for _ in missing[:ASKED_AT_ONCE]]
        try:
            await asyncio.wait(askers, timeout=max(self._left_s, 0.0))
        finally:
            for asker in askers:
                asker.cancel()
            await asyncio.gather(*askers, return_exceptions=True)
        self._left_s -= time.perf_counter() - began_s

    def _local_text(self, token_id: int) -> str:
        piece = self._tokenizer.id_to_token(token_id)
        if piece is None:
            return UNFINISHED
        text: str = self._tokenizer.decode([token_id], skip_special_tokens=False)
        # SentencePiece decoders drop the space that starts a word
        return f" {text}" if piece.startswith("\u2581") and not text.startswith(" ") else text


def _load_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer  # only where the model is on this machine

    try:
        return Tokenizer.from_file(str(path))
    except Exception:  # the package raises nothing narrower for a file that it cannot read
        return None


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
