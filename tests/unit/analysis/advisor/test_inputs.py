"""Answers as texts: what an address says is what was answered."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.advisor.inputs import INPUTS, Answer, Kind, format_answers, parse_answers
from tests.support.properties import share


def values(name: str) -> st.SearchStrategy[Answer]:
    one = INPUTS[name]
    if one.kind is Kind.YES_NO:
        return st.booleans()
    if one.kind is Kind.CHOICE:
        return st.sampled_from(one.choices)
    if one.kind is Kind.WHOLE:
        return st.integers(int(one.low), int(one.high))
    return st.floats(one.low, one.high)


some_answers = st.fixed_dictionaries({}, optional={name: values(name) for name in INPUTS})


@given(some_answers)
def test_an_address_says_what_was_answered(answers: dict[str, Answer]) -> None:
    query = format_answers(answers)
    assert all(isinstance(value, str) for value in query.values())
    assert parse_answers(query) == (answers, [])


@share(0.5)
@given(some_answers, st.dictionaries(st.sampled_from([*INPUTS]), st.text(), max_size=4))
def test_wrong_values_are_named_and_the_others_kept(
    answers: dict[str, Answer], typed: dict[str, str]
) -> None:
    """Whatever is typed, nothing is raised, and each name is an answer or a sentence."""
    found, problems = parse_answers(format_answers(answers) | typed)
    for name in typed:
        assert (name in found) is not any(f" {name} is " in problem for problem in problems)
    for name, value in answers.items():
        assert name in typed or found[name] == value


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"temperature": "warm"}, "temperature is a number from 0 to 2, not 'warm'."),
        ({"temperature": "2.5"}, "temperature is a number from 0 to 2, not 2.5."),
        ({"temperature": "nan"}, "temperature is a number from 0 to 2, not nan."),
        ({"concurrency": "1.5"}, "concurrency is a whole number (requests at once) from 1"),
        ({"spare_memory_gb": "inf"}, "spare_memory_gb is a number (GB)"),
        ({"memory_pressure": "perhaps"}, "memory_pressure is yes or no, not 'perhaps'."),
        ({"slo": "fast"}, "slo is one of tpot, throughput, cost, not 'fast'."),
    ],
)
def test_a_wrong_value_says_what_it_can_be(query: dict[str, str], problem: str) -> None:
    found, problems = parse_answers({**query, "output_tokens": "200"})
    assert found == {"output_tokens": 200.0}
    assert len(problems) == 1
    assert problem in problems[0]


def test_every_number_has_an_end() -> None:
    numbers = [one for one in INPUTS.values() if one.kind in (Kind.NUMBER, Kind.WHOLE)]
    assert all(math.isfinite(one.high) for one in numbers)
