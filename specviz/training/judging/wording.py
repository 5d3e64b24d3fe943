"""Answers of which the grammar has exactly one wording: short questions and translations.

No question of the corpus has two answers, and no text two translations into the same style (a test
draws both many times), so the answer is compared word by word.
"""

from __future__ import annotations

import re

from specviz.training.corpus import Document
from specviz.training.judging.words import WORD, first_difference

_TOKEN = re.compile(rf"{WORD.pattern}|[^\w\s]")
_PUNCTUATION = frozenset(".,:;'\"")


def wrong_answer(document: Document, text: str) -> str | None:
    """Why a short answer is not right: a word, number or sign differs. Punctuation does not count.

    Every step counts, not the result alone: "13 + 59 = 72" with a wrong summand is wrong.
    """
    got, wanted = (
        [token for token in _TOKEN.findall(part) if token not in _PUNCTUATION]
        for part in (text, document.answer)
    )
    return first_difference(got, wanted)


def wrong_translation(document: Document, text: str) -> str | None:
    """Why a translation is not the grammar's own; a question mark counts, spacing too, because it
    separates Korean words."""
    got, wanted = ([*_separated(part)] for part in (text, document.answer))
    return first_difference(got, wanted)


def _separated(text: str) -> list[str]:
    """Words with the marks that follow them as words of their own."""
    return [token for word in text.split() for token in _TOKEN.findall(word)]
