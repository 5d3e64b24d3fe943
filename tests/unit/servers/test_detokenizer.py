"""Cutting the server's text into tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from specviz.servers.client.detokenizer import cut


def byte_tokenizer() -> Tokenizer:
    """One token per byte: every character above ASCII is split across tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: index for index, piece in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


TOKENIZER = byte_tokenizer()


@given(st.text(max_size=30))
def test_the_parts_join_to_the_servers_text(text: str) -> None:
    ids = TOKENIZER.encode(text).ids
    parts = cut(text, [TOKENIZER.decode([token]) for token in ids])
    assert len(parts) == len(ids)
    if ids:
        assert "".join(parts) == text


def test_a_split_character_belongs_to_the_token_that_completes_it() -> None:
    text = "a한b"
    pieces = [TOKENIZER.decode([token]) for token in TOKENIZER.encode(text).ids]
    assert cut(text, pieces) == ["a", "", "", "한", "b"]


def test_a_hidden_special_token_has_no_text() -> None:
    assert cut("done", ["done", "<|end|>"]) == ["done", ""]


def test_a_space_that_a_decoder_dropped_goes_with_its_word() -> None:
    assert cut(" the cat", ["the", "cat"]) == [" the", " cat"]
