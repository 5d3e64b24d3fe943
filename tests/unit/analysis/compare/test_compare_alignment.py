"""Answers laid side by side: what is shared, where they part, in which rows they stand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.compare.alignment import Block, align
from specviz.analysis.compare.common import common_subsequence
from specviz.analysis.compare.pieces import Answer, by_tokens, by_words, divergence
from specviz.analysis.compare.rows import Span, aligned_rows
from specviz.trace import EmittedToken, Origin

sequences = st.lists(st.sampled_from("abcd"), max_size=12)
texts = st.text(st.sampled_from("ab \n,한\u202e"), max_size=30) | st.text(max_size=12)


def length_by_table(first: list[str], second: list[str]) -> int:
    """The textbook's quadratic table."""
    row = [0] * (len(second) + 1)
    for element in first:
        above = row[:]
        for place, other in enumerate(second, start=1):
            row[place] = (
                above[place - 1] + 1 if element == other else max(above[place], row[place - 1])
            )
    return row[-1]


@given(sequences, sequences)
def test_the_common_subsequence_is_one_and_a_longest(first: list[str], second: list[str]) -> None:
    matches = common_subsequence(first, second)
    assert all(first[one] == second[other] for one, other in matches)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(matches))
    assert len(matches) == length_by_table(first, second)


def test_a_model_that_loops_is_aligned_in_time() -> None:
    """Three times as much takes difflib a day: a hang."""
    blocks = align(["a"] * 4000, ["a", "b"] * 2000)
    assert blocks[-1].end == 4000


@given(sequences, sequences)
def test_blocks_cover_both_without_a_gap_and_the_same_ones_are_the_same(
    first: list[str], second: list[str]
) -> None:
    blocks = align(first, second)
    place = other_place = 0
    for block in blocks:
        assert (block.start, block.other_start) == (place, other_place)
        place, other_place = block.end, block.other_end
        inside = first[block.start : block.end], second[block.other_start : block.other_end]
        assert not block.same or inside[0] == inside[1] != []
    assert (place, other_place) == (len(first), len(second))
    assert all(a.same is not b.same for a, b in pairwise(blocks))


@given(sequences)
def test_with_itself_everything_is_the_same(one: list[str]) -> None:
    assert align(one, one) == ((Block(True, 0, len(one), 0, len(one)),) if one else ())
    assert divergence(by_words("".join(one)), by_words("".join(one))) is None


def test_what_two_unrelated_sentences_share_by_chance_is_no_match() -> None:
    first = by_words("one two three").keys
    second = by_words("un deux trois").keys
    assert align(first, second) == (Block(False, 0, len(first), 0, len(second)),)
    kept = align(list("aaaaXbbbb"), list("aaaaYbbbb"))
    assert [block.same for block in kept] == [True, False, True]


@given(texts)
def test_pieces_are_the_text(text: str) -> None:
    assert "".join(by_words(text).texts) == text


def test_where_answers_part_by_token_and_by_word() -> None:
    parting = divergence(answer("The", " cat", " sat"), answer("The", " cat", " ran"))
    assert parting is not None
    assert (parting.place, parting.reference, parting.other) == (2, " sat", " ran")
    first, second = by_words("The cat sat."), by_words("The cat ran.")
    parting = divergence(first, second)
    assert parting is not None
    assert (first.number(parting.place), parting.reference, parting.other) == (3, "sat", "ran")


def test_an_answer_that_ends_early_says_nothing_there() -> None:
    parting = divergence(answer("a", "b"), answer("a"))
    assert parting is not None
    assert (parting.place, parting.reference, parting.other) == (1, "b", None)


def test_half_a_character_is_told_by_its_id() -> None:
    half = [EmittedToken(0, token_id, "", Origin.TARGET) for token_id in (7, 8)]
    first, second = by_tokens(half[:1]), by_tokens(half[1:])
    assert first is not None and second is not None
    assert divergence(first, second) is not None
    assert by_tokens([EmittedToken(0, None, "a", Origin.UNKNOWN)]) is None


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_columns_of_rows_are_the_texts(reference: str, others: list[str]) -> None:
    rows = aligned_rows(by_words(reference), [by_words(other) for other in others])
    for column, text in enumerate([reference, *others]):
        assert "".join(span.text for row in rows for span in row[column]) == text
    for column, text in enumerate(others, start=1):
        spans = [span for row in rows for span in row[column]]
        if text == reference:
            assert not any(span.differs for span in spans)
        assert sum(span.parts for span in spans) <= 1


def test_lines_that_are_the_same_stand_beside_each_other() -> None:
    reference = by_words("one\ntwo\nthree\nfour\n")
    other = by_words("one\nzwei\ndrei\nfour\n")
    rows = aligned_rows(reference, [other])
    assert [["".join(span.text for span in cell) for cell in row] for row in rows] == [
        ["one\n", "one\n"],
        ["two\nthree\n", "zwei\ndrei\n"],
        ["four\n", "four\n"],
    ]
    assert rows[1][0] == (Span("two\nthree", True, True), Span("\n"))


@pytest.mark.parametrize(
    ("reference", "other"), [("a b", "a b c"), ("", "a"), ("a\n", "a\nb"), ("a", "")]
)
def test_what_only_the_other_has_is_marked(reference: str, other: str) -> None:
    rows = aligned_rows(by_words(reference), [by_words(other)])
    spans = [span for row in rows for cell in row for span in cell]
    assert any(span.differs for span in spans)


def answer(*tokens: str) -> Answer:
    return Answer("token", tokens, tokens)
