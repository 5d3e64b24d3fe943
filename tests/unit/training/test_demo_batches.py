"""Packing: whole documents, the right weights, nothing lost."""

from __future__ import annotations

import pytest
import torch

from specviz.training.corpus import training_documents
from specviz.training.stream.batches import (
    PROMPT_WEIGHT,
    ROW_LENGTH,
    alone,
    batch_of,
    documents,
    groups,
    pack,
    rows_of,
    split,
)
from specviz.training.stream.encoding import Encoded
from specviz.training.stream.writers import stream_batches
from specviz.training.tokenizer import ASSISTANT, END, USER, chat_prompt, train_tokenizer
from tests.support.training.head_samples import is_sorted


@pytest.fixture(scope="module")
def tokenizer():
    training = training_documents(1)
    return train_tokenizer(next(training).answer for _ in range(300))


def test_weights_count_answers_fully_and_prompts_little() -> None:
    batch = pack([[Encoded([5, 6, 7, 8], 2), Encoded([5, 9], 1)]], pad=0, next_document=0)
    assert batch.ids[0, :7].tolist() == [5, 6, 7, 8, 5, 9, 0]
    assert batch.weights[0, :7].tolist() == pytest.approx([0, PROMPT_WEIGHT, 1, 1, 0, 1, 0])


def test_rows_hold_whole_documents(tokenizer) -> None:
    batch = next(stream_batches(tokenizer, seed=1, start=0, documents=60))
    user, pad = tokenizer.convert_tokens_to_ids(USER), tokenizer.pad_token_id
    for row in batch.ids.tolist():
        text = [token for token in row if token != pad]
        assert text[0] == user
        assert text[-1] == tokenizer.eos_token_id
    assert (batch.ids[:-1] != pad).float().mean() > 0.8
    assert len(documents(batch)) == batch.next_document == 60


def test_a_document_that_is_longer_than_a_row_is_left_out() -> None:
    short, long = Encoded([2, 1], 1), Encoded([2] * (ROW_LENGTH + 1), 1)
    assert documents(batch_of([short, long, short], pad=0, next_document=3)) == [short, short]


def test_a_text_goes_into_the_first_row_with_room() -> None:
    first, second, third = (Encoded([2] * n, 1) for n in (700, 500, 60))
    assert rows_of([first, second, third]) == [[first, third], [second]]


def test_next_batch_goes_on_where_the_last_ended(tokenizer) -> None:
    stream = stream_batches(tokenizer, seed=1, start=0, documents=20)
    first, second = next(stream), next(stream)
    again = next(stream_batches(tokenizer, seed=1, start=first.next_document, documents=20))
    assert torch.equal(second.ids, again.ids)


def test_split_keeps_every_document_and_shares_out_the_lengths() -> None:
    texts = [Encoded([2] * n, 1) for n in (5, 90, 30, 7, 60, 8)]
    parts = split(batch_of(texts, pad=0, next_document=6), 2)
    lengths = [sorted(len(text.ids) for text in documents(part)) for part in parts]
    assert lengths == [[5, 8, 60], [7, 30, 90]]


def test_split_makes_no_empty_part() -> None:
    (part,) = split(batch_of([Encoded([2, 1], 1)], pad=0, next_document=1), 2)
    assert part.ids[0, :2].tolist() == [2, 1]


def test_packed_documents_come_back() -> None:
    first, second, third = Encoded([2, 5, 6, 1], 2), Encoded([2, 7, 1], 1), Encoded([2, 8, 9, 1], 3)
    batch = pack([[first, second], [third], []], pad=0, next_document=3)
    assert documents(batch) == [first, second, third]


def test_groups_hold_everything_and_little_padding() -> None:
    many = [Encoded([2] * n, 1) for n in (5, 90, 30, 7, 60, 8, 200)]
    found = list(groups(many, tokens=100))
    assert sorted(len(d.ids) for group in found for d in group) == [5, 7, 8, 30, 60, 90, 200]
    assert is_sorted([len(d.ids) for group in found for d in group])
    assert all(len(g) == 1 or len(g) * len(g[-1].ids) <= 100 for g in found)


def test_alone_documents_have_a_row_each_and_keep_their_weights() -> None:
    first, second = Encoded([2, 5, 6, 1], 2), Encoded([2, 7, 1], 1)
    (part,) = alone(pack([[first, second]], pad=0, next_document=2), tokens=100)
    assert part.ids.tolist() == [[2, 7, 1, 0], [2, 5, 6, 1]]
    assert part.weights[1].tolist() == pytest.approx([0, PROMPT_WEIGHT, 1, 1])
    assert part.next_document == 2


def test_every_token_knows_where_its_document_starts() -> None:
    first, second = Encoded([2, 5, 6, 1], 2), Encoded([2, 7, 1], 1)
    starts = pack([[first, second]], pad=0, next_document=2).starts()
    assert starts[0, :9].tolist() == [0, 0, 0, 0, 4, 4, 4, 7, 8]


def test_template_and_training_text_agree(tokenizer) -> None:
    messages = [{"role": "user", "content": "안녕, 12 + 3?"}]
    rendered = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert rendered == chat_prompt("안녕, 12 + 3?") == f"{USER}안녕, 12 + 3?{END}{ASSISTANT}"


def test_tokenizer_gives_any_text_back(tokenizer) -> None:
    text = "Ünïcode , 한국어!  def f(x):\n    return x  # 123 <end>"
    assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


@pytest.mark.slow
def test_any_number_of_processes_writes_the_same_stream(tokenizer) -> None:
    alone = stream_batches(tokenizer, seed=1, start=5, documents=20)
    together = stream_batches(tokenizer, seed=1, start=5, documents=20, processes=2)
    for _ in range(12):  # more than wait to be read
        first, second = next(alone), next(together)
        assert torch.equal(first.ids, second.ids)
        assert torch.equal(first.weights, second.weights)
        assert first.next_document == second.next_document
    together.close()
