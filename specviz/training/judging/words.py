"""The words and numbers of a text."""

from __future__ import annotations

import re
from itertools import zip_longest

WORD = re.compile(r"\d+(?:[.:]\d+)*|\w+")
"""A number with what is inside it (2.5, 16:15, 2:1), or letters: an identifier is one word."""

FUNCTION_WORDS = frozenset(
    """
a about after all also an and are as at be because before but by called can do does each every for
from had has have how i in is it its me more most my no not now of on one or out so that the their
them then there these they this those to was were what when where which who will with you your
""".split()
)
"""Words that no answer needs because the prompt has them."""


def words(text: str) -> list[str]:
    """The words and numbers in `text`, in order."""
    return WORD.findall(text)


def first_difference(got: list[str], wanted: list[str]) -> str | None:
    """A sentence on the first word in which `got` differs, None if the lists are equal."""
    for found, right in zip_longest(got, wanted):
        if found == right:
            continue
        if found is None:
            return f"It ends before {right!r}."
        if right is None:
            return f"It goes on with {found!r}."
        return f"It says {found!r} where {right!r} is right."
    return None
