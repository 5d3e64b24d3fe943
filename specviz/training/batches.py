"""Whole documents packed into rows of a fixed length, with a weight for every token.

A document is never cut: it always begins at `<|user|>`, as a request does at inference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from specviz.training.encoding import Encoded, encoded_documents

ROW_LENGTH = 768
# Prompts count a little, because they are half of the text; answers are what matters.
PROMPT_WEIGHT = 0.15


@dataclass(frozen=True)
class Batch:
    """Packed rows: `ids` and `weights` are [rows, ROW_LENGTH].

    `weights[r, t]` is how much predicting `ids[r, t]` counts: 1 in an answer and its `<|end|>`,
    `PROMPT_WEIGHT` in a prompt, 0 for the first token of a document and for padding.
    `next_document` is where the following batch starts.
    """

    ids: Tensor
    weights: Tensor
    next_document: int


def stream_batches(
    tokenizer: PreTrainedTokenizerFast, *, seed: int, start: int, rows: int, processes: int = 0
) -> Iterator[Batch]:
    """The training stream from document `start` on as batches, written by so many processes."""
    documents = encoded_documents(tokenizer, seed=seed, start=start, processes=processes)
    index, left = start, None
    while True:
        packer = Packer(rows)
        while True:
            encoded = left or next(documents)
            left = None
            if len(encoded.ids) <= ROW_LENGTH and not packer.add(encoded):
                left = encoded
                break
            index += 1
        yield pack(packer.packed, pad=tokenizer.pad_token_id, next_document=index)


class Packer:
    """Fills rows with documents while there is room."""

    def __init__(self, rows: int) -> None:
        self.packed: list[list[Encoded]] = [[] for _ in range(rows)]
        self._room = [ROW_LENGTH] * rows

    def add(self, encoded: Encoded) -> bool:
        """Put `encoded` into the first row with room; False, without a change, if there is none."""
        row = next((r for r, room in enumerate(self._room) if room >= len(encoded.ids)), None)
        if row is None:
            return False
        self.packed[row].append(encoded)
        self._room[row] -= len(encoded.ids)
        return True


def split_rows(batch: Batch, parts: int) -> list[Batch]:
    """`batch` cut into at most `parts` batches of whole rows; none is all padding."""
    cuts = zip(batch.ids.chunk(parts), batch.weights.chunk(parts), strict=True)
    return [Batch(ids, weights, batch.next_document) for ids, weights in cuts if weights.any()]


def pack(
    packed: list[list[Encoded]], *, pad: int, next_document: int, length: int = ROW_LENGTH
) -> Batch:
    """Rows of documents as tensors."""
    ids = torch.full((len(packed), length), pad)
    weights = torch.zeros(len(packed), length)
    for row, documents in enumerate(packed):
        at = 0
        for document in documents:
            end = at + len(document.ids)
            ids[row, at:end] = torch.tensor(document.ids)
            weights[row, at + 1 : at + document.answer_start] = PROMPT_WEIGHT
            weights[row, at + document.answer_start : end] = 1.0
            at = end
    return Batch(ids, weights, next_document)


def alone(batch: Batch, tokens: int) -> Iterator[Batch]:
    """The same documents with a row each, as at inference: none reads the one before it.

    Rows of similar length are together, so many that a part has about `tokens`.
    """
    for group in groups(documents(batch), tokens):
        length = len(group[-1].ids)
        yield pack(
            [[one] for one in group], pad=0, next_document=batch.next_document, length=length
        )


def documents(batch: Batch) -> list[Encoded]:
    """The documents packed into `batch`, separated by their weights."""
    found = []
    for ids, weights in zip(batch.ids, batch.weights, strict=True):
        if not weights.any():
            continue
        used = int(weights.nonzero().max()) + 1
        starts = (weights[:used] == 0).nonzero().flatten().tolist()
        for start, end in zip(starts, [*starts[1:], used], strict=True):
            answer = int((weights[start:end] == 1.0).nonzero().min())
            found.append(Encoded(ids[start:end].tolist(), answer))
    return found


def groups(encoded: Sequence[Encoded], tokens: int) -> Iterator[list[Encoded]]:
    """`encoded` by length, cut where a group would exceed `tokens`, padding included."""
    group: list[Encoded] = []
    for document in sorted(encoded, key=lambda document: len(document.ids)):
        if group and (len(group) + 1) * len(document.ids) > tokens:
            yield group
            group = []
        group.append(document)
    if group:
        yield group
