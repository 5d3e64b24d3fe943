"""The training stream as token ids, written by several processes where a GPU would wait for it.

Writing and encoding a document takes about a millisecond of Python: little next to a training step
on a CPU, far too much next to one on a GPU.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass

from transformers import PreTrainedTokenizerFast

from specviz.training.corpus import Document, training_document
from specviz.training.tokenizer import END, chat_prompt

AT_ONCE = 256  # documents that a process is given
AHEAD = 3  # of these for each process, waiting to be read


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


def writers(device: str) -> int:
    """How many processes write for a model on `device`; 0: its own."""
    return 0 if device == "cpu" else max(1, (os.cpu_count() or 2) - 1)


def encoded_documents(
    tokenizer: PreTrainedTokenizerFast, *, seed: int, start: int, processes: int
) -> Iterator[Encoded]:
    """The stream of `seed` from document `start` on, endlessly; the same for any `processes`."""
    if processes == 0:
        index = start
        while True:
            yield encode(training_document(seed, index), tokenizer)
            index += 1
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _begin, (tokenizer, seed)) as pool:
        waiting: deque[Future[list[Encoded]]] = deque()
        first = start
        try:
            while True:
                while len(waiting) < AHEAD * processes:
                    waiting.append(pool.submit(_written, first))
                    first += AT_ONCE
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_writer: tuple[PreTrainedTokenizerFast, int]


def _begin(tokenizer: PreTrainedTokenizerFast, seed: int) -> None:
    global _writer
    _writer = tokenizer, seed


def _written(first: int) -> list[Encoded]:
    tokenizer, seed = _writer
    indexes = range(first, first + AT_ONCE)
    return [encode(training_document(seed, index), tokenizer) for index in indexes]
