"""The training stream as batches, written by several processes where a GPU would wait for it.

Writing and encoding a document takes about half a millisecond of Python: little next to a training
step on a CPU, far too much next to one on a GPU.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import count, islice
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from specviz.training.corpus import training_documents
from specviz.training.stream.batches import Batch, batch_of
from specviz.training.stream.encoding import encode

AHEAD = 3
"""Batches of each process that wait to be read."""

# A batch on its way between processes, where arrays travel as bytes.
_Written: TypeAlias = tuple[NDArray[np.int16], NDArray[np.float32], int]


def writers(device: str) -> int:
    """How many processes write for a model on `device`; 0: its own."""
    return 0 if device == "cpu" else max(1, (os.cpu_count() or 2) - 1)


def stream_batches(
    tokenizer: PreTrainedTokenizerFast, *, seed: int, start: int, documents: int, processes: int = 0
) -> Iterator[Batch]:
    """The stream of `seed` from document `start` on, endlessly, so many `documents` to a batch.

    The same for any number of `processes`.
    """
    firsts = count(start, documents)
    if processes == 0:
        for first in firsts:
            yield written(tokenizer, seed, first, documents)
    # A process started by fork would share the GPU; one from a server need not import torch again.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(processes, context, _begin, (tokenizer, seed, documents)) as pool:
        waiting: deque[Future[_Written]] = deque()
        try:
            while True:
                while len(waiting) < AHEAD * processes:
                    waiting.append(pool.submit(_write, next(firsts)))
                ids, weights, following = waiting.popleft().result()
                yield Batch(torch.from_numpy(ids).long(), torch.from_numpy(weights), following)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def written(tokenizer: PreTrainedTokenizerFast, seed: int, first: int, documents: int) -> Batch:
    """The batch that begins with document `first`."""
    texts = islice(training_documents(seed, first), documents)
    encoded = [encode(text, tokenizer) for text in texts]
    return batch_of(encoded, pad=tokenizer.pad_token_id, next_document=first + documents)


_writer: tuple[PreTrainedTokenizerFast, int, int]


def _begin(tokenizer: PreTrainedTokenizerFast, seed: int, documents: int) -> None:
    global _writer
    torch.set_num_threads(1)
    _writer = tokenizer, seed, documents


def _write(first: int) -> _Written:
    tokenizer, seed, documents = _writer
    batch = written(tokenizer, seed, first, documents)
    return batch.ids.short().numpy(), batch.weights.numpy(), batch.next_document
