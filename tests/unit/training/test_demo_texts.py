"""Answers of the categories are right: they are checked, not compared with stored text."""

from __future__ import annotations

import ast
import json
import re
from random import Random

import yaml
from hypothesis import given
from hypothesis import strategies as st

from specviz.training.texts import (
    code_generation,
    short_qa,
    structured_output,
    summarization,
    translation,
)
from specviz.training.texts.stdlib_functions import stdlib_function

SEEDS = st.integers(min_value=0, max_value=2**32)


@given(SEEDS)
def test_structured_output_parses_and_has_the_keys_asked_for(seed: int) -> None:
    example = structured_output.example(Random(seed))
    value = (json.loads if example.answer.startswith("{") else yaml.safe_load)(example.answer)
    assert isinstance(value, dict)
    assert ", ".join(value) in example.prompt


@given(SEEDS)
def test_code_parses(seed: int) -> None:
    example = code_generation.example(Random(seed))
    fenced = re.fullmatch(r"```python\n(.*)\n```", example.answer, re.DOTALL)
    assert fenced
    assert ast.parse(fenced[1]).body


@given(SEEDS)
def test_sums_are_right(seed: int) -> None:
    answer = short_qa.example(Random(seed)).answer
    for left, right in re.findall(r"(\d+ [-+*] \d+) = (\d+)[ .]", answer):
        assert eval(left) == int(right)


@given(SEEDS)
def test_summary_is_shorter_and_keeps_the_numbers(seed: int) -> None:
    example = summarization.example(Random(seed))
    assert len(example.answer) < len(example.prompt)
    reported = set(re.findall(r"\d+", example.prompt))
    # A journey's days are added up.
    added = (
        {str(a + b) for a in range(2, 9) for b in range(2, 9)}
        if "days in all" in (example.answer)
        else set()
    )
    assert set(re.findall(r"\d+", example.answer)) <= reported | added


@given(SEEDS)
def test_translation_has_one_side_in_korean(seed: int) -> None:
    example = translation.example(Random(seed))
    into_korean = example.content in example.prompt  # the content is the English side
    assert bool(re.search("[가-힣]", example.answer)) == into_korean
    assert "None" not in example.answer


def test_standard_library_functions_are_its_own_source() -> None:
    function = stdlib_function(Random(1))
    assert ast.parse(function.source).body
    assert function.summary
