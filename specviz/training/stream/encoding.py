"""A document as token ids."""

from __future__ import annotations

from dataclasses import dataclass

from transformers import PreTrainedTokenizerFast

from specviz.training.corpus import Document
from specviz.training.tokenizer import END, chat_prompt


@dataclass(frozen=True)
class Encoded:
    """One document as token ids; the answer starts at `answer_start`."""

    ids: list[int]
    answer_start: int


def encode(document: Document, tokenizer: PreTrainedTokenizerFast) -> Encoded:
    """The document in the chat template, with the end token."""
    prompt = tokenizer.encode(chat_prompt(document.prompt), add_special_tokens=False)
    answer = tokenizer.encode(document.answer + END, add_special_tokens=False)
    return Encoded(prompt + answer, len(prompt))
