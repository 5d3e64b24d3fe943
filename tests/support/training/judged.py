"""Held-out exchanges of every category, for the tests of judging."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from specviz.training.corpus import MAKERS, Document
from specviz.training.texts import code_generation
from specviz.training.texts.example import Example

SEEDS = st.integers(min_value=0, max_value=2**32)


def document(category: str, seed: int) -> Document:
    """An exchange of `category` as the corpus makes it."""
    return of(category, MAKERS[category](Random(seed)))


def of(category: str, example: Example) -> Document:
    return Document(category, example.prompt, example.answer, example.content)


def code(maker: str, seed: int = 3) -> Document:
    """An exchange about code of one kind: `pipeline`, `recursion`, …"""
    makers = {made.__name__.removeprefix("_"): made for made in code_generation.MAKERS}
    return of("code_generation", makers[maker](Random(seed)))
