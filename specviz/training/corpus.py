"""The training text: a deterministic stream of exchanges in six categories, with a held-out share.

Document i of a seed is a function of (seed, i) alone. An exchange whose content hashes into the
held-out share is never in the stream; the evaluation prompts are drawn from that share only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from zlib import crc32

from specviz.training.texts import (
    code_generation,
    creative_writing,
    short_qa,
    structured_output,
    summarization,
    translation,
)
from specviz.training.texts.example import Example

MAKERS: dict[str, Callable[[Random], Example]] = {
    "short_qa": short_qa.example,
    "summarization": summarization.example,
    "code_generation": code_generation.example,
    "creative_writing": creative_writing.example,
    "translation": translation.example,
    "structured_output": structured_output.example,
}
CATEGORIES = tuple(MAKERS)
# Exchanges per hundred: short categories come more often, so that tokens are balanced.
SHARES = {
    "short_qa": 36,
    "summarization": 10,
    "code_generation": 13,
    "creative_writing": 8,
    "translation": 23,
    "structured_output": 10,
}
HELD_OUT_IN = 97


@dataclass(frozen=True)
class Document:
    """One exchange of the stream; the held-out split is made on `content`."""

    category: str
    prompt: str
    answer: str
    content: str


def held_out(content: str) -> bool:
    """Whether an exchange about `content` is kept for evaluation (about one in 97)."""
    return crc32(content.encode()) % HELD_OUT_IN == 0


def training_document(seed: int, index: int) -> Document:
    """Document `index` of the training stream of `seed`."""
    rng = Random(f"{seed}/{index}")
    category = rng.choices(CATEGORIES, list(SHARES.values()))[0]
    example = next(e for e in _examples(category, rng) if not held_out(e.content))
    return Document(category, example.prompt, example.answer, example.content)


def training_documents(seed: int, start: int = 0) -> Iterator[Document]:
    """The training stream from document `start` on, endlessly."""
    index = start
    while True:
        yield training_document(seed, index)
        index += 1


def held_out_documents(category: str, seed: int) -> Iterator[Document]:
    """Exchanges of the held-out share of a category, each prompt once."""
    seen: set[str] = set()
    for example in _examples(category, Random(f"held-out/{category}/{seed}")):
        if held_out(example.content) and example.prompt not in seen:
            seen.add(example.prompt)
            yield Document(category, example.prompt, example.answer, example.content)


def _examples(category: str, rng: Random) -> Iterator[Example]:
    while True:
        yield MAKERS[category](rng)
