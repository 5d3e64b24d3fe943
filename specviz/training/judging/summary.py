"""Summaries: every stated fact is there, and nothing that the report does not say.

A fact is a number of the reference, or a word that it shares with the report: a name, a day, a
product, "rose", "rejected". The facts of one sentence stand in one sentence of the answer in the
same order, so that winner and loser cannot change places. The words around them are free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from specviz.training.corpus import Document
from specviz.training.judging.words import FUNCTION_WORDS, words

_END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NEGATIONS = frozenset({"not", "no", "never"})


def wrong_summary(document: Document, text: str) -> str | None:
    """Why `text` is not a summary with the facts of the reference."""
    reported = {_stem(word) for word in words(document.prompt)}
    sentences = [stems(sentence) for sentence in _END_OF_SENTENCE.split(text)]
    for sentence in _END_OF_SENTENCE.split(document.answer):
        facts = [fact for fact in stems(sentence) if _is_fact(fact, reported)]
        if not any(_follow(facts, said) for said in sentences):
            return _missing(facts, sentences)
    return _polarity(document, text) or _invented(document, text)


def stems(text: str) -> list[str]:
    """Words without what separates "dollars" from "dollar" and "recommends" from "recommend"."""
    return [_stem(word) for word in words(text)]


def _stem(word: str) -> str:
    return word.casefold().removesuffix("s")


_NO_FACTS = frozenset(map(_stem, FUNCTION_WORDS))


def _is_fact(stem: str, reported: set[str]) -> bool:
    return stem[0].isdigit() or (stem in reported and stem not in _NO_FACTS)


def _follow(facts: list[str], said: Iterable[str]) -> bool:
    """Whether `facts` are in `said`, in their order."""
    rest = iter(said)
    return all(fact in rest for fact in facts)


def _missing(facts: list[str], sentences: list[list[str]]) -> str:
    said = {word for sentence in sentences for word in sentence}
    missing = next((fact for fact in facts if fact not in said), None)
    if missing is not None:
        return f"It does not say {missing!r}."
    return f"It does not say {' '.join(facts)!r} in this order in one sentence."


def _polarity(document: Document, text: str) -> str | None:
    said, wanted = (
        sum(word in _NEGATIONS for word in stems(part)) for part in (text, document.answer)
    )
    return None if said == wanted else f"It says 'not' {said} times instead of {wanted}."


def _invented(document: Document, text: str) -> str | None:
    """The first name (by its capital letter) or number (by its digit) that the report lacks."""
    known = {_stem(word) for part in (document.prompt, document.answer) for word in words(part)}
    for word in words(text):
        if (word[0].isupper() or word[0].isdigit()) and _stem(word) not in known:
            return f"It says {word!r}, which the report does not."
    return None
