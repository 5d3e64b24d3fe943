"""Lists of numbers as the K page and the Benchmark page take them."""

from __future__ import annotations

import pytest

from specviz.bench.numbers import compact, numbers, whole_numbers
from specviz.errors import UsageError


def test_lists() -> None:
    assert numbers("0; 0.3, 1", "T") == [0.0, 0.3, 1.0]
    assert whole_numbers("3, 5–7", "K") == [3, 5, 6, 7]
    assert whole_numbers("1-3, 5, 3", "K") == [1, 2, 3, 5]
    assert whole_numbers("1-64", "K") == list(range(1, 65))
    assert whole_numbers(" , ", "K") == []


def test_a_range_as_it_is_typed() -> None:
    assert compact([1, 2, 3, 5, 6, 8]) == "1-3, 5, 6, 8"
    assert compact([]) == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("5-1", "K: 5-1 runs backwards, write 1-5."),
        ("1-200000", "K: 1-200000 is 200,000 values; a range may have 64."),
        ("1-65", "K: 1-65 is 65 values; a range may have 64."),
        ("five", "K cannot be 'five': write whole numbers"),
        ("1-" + "9" * 5000, "K cannot be '1-999"),
        ("-3", "K cannot be '-3'"),
    ],
)
def test_what_is_no_list_gets_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        whole_numbers(text, "K")
    assert str(refused.value).startswith(sentence)
