"""An answer cut into what is compared: tokens where they are known, words elsewhere."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from specviz.analysis.compare.alignment import shared_length
from specviz.trace import EmittedToken

_PIECE = re.compile(r"\n|[^\S\n]+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer in pieces: `keys` decide whether two are equal, `texts` are shown.

    A token that ends inside a character has an empty text (see `EmittedToken`).
    """

    unit: str
    keys: tuple[Hashable, ...]
    texts: tuple[str, ...]

    def number(self, place: int) -> int:
        """The piece at a place as people count: token 1, 2, … or the word it is in or behind."""
        if self.unit == "token":
            return place + 1
        return max(1, sum(text[0].isalnum() for text in self.texts[: place + 1]))


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two answers part: the place of the first piece that differs, from 0.

    `reference` and `other` are its text in either; None: that answer ended there.
    """

    place: int
    reference: str | None
    other: str | None


def by_tokens(emitted: Sequence[EmittedToken]) -> Answer | None:
    """None where a server streams text without ids."""
    if any(token.token_id is None for token in emitted):
        return None
    ids = tuple(token.token_id for token in emitted)
    return Answer("token", ids, tuple(token.text for token in emitted))


def by_words(text: str) -> Answer:
    """Words, signs, line ends and the spaces between them."""
    pieces = tuple(_PIECE.findall(text))
    return Answer("word", pieces, pieces)


def divergence(reference: Answer, other: Answer) -> Divergence | None:
    """None if both say the same to the end. Both are cut alike."""
    place = shared_length(reference.keys, other.keys)
    if place == len(reference.keys) == len(other.keys):
        return None
    known = [
        answer.texts[place] if place < len(answer.texts) else None for answer in (reference, other)
    ]
    return Divergence(place, *known)
