"""Whole documents packed into rows of a fixed length, with a weight for every token.

A document is never cut: it always begins at `<|user|>`, as a request does at inference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specviz.training.stream.encoding import Encoded

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

    def starts(self) -> Tensor:
        """[rows, ROW_LENGTH]: the column where the document of each token begins.

        Every token of padding is a document of its own.
        """
        columns = torch.arange(self.ids.shape[1], device=self.ids.device)
        return torch.where(self.weights == 0, columns, 0).cummax(1).values


def batch_of(texts: Sequence[Encoded], *, pad: int, next_document: int) -> Batch:
    """`texts` as a batch; those that are longer than a row are left out."""
    fitting = [text for text in texts if len(text.ids) <= ROW_LENGTH]
    return pack(rows_of(fitting), pad=pad, next_document=next_document)


def rows_of(texts: Sequence[Encoded]) -> list[list[Encoded]]:
    """`texts` in rows: each in the first row with room for it, so that rows are almost full."""
    rows: list[list[Encoded]] = []
    rooms: list[int] = []
    for text in texts:
        row = next((r for r, room in enumerate(rooms) if room >= len(text.ids)), len(rows))
        if row == len(rows):
            rows.append([])
            rooms.append(ROW_LENGTH)
        rows[row].append(text)
        rooms[row] -= len(text.ids)
    return rows


def split(batch: Batch, parts: int) -> list[Batch]:
    """At most `parts` batches of whole documents, which take about equally long."""
    if parts == 1:
        return [batch]
    by_length = sorted(documents(batch), key=lambda text: len(text.ids))
    shares = [by_length[part::parts] for part in range(parts)]
    return [batch_of(one, pad=0, next_document=batch.next_document) for one in shares if one]


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
