"""What a saved view of the Runs list sets, whoever wrote it."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.store.history.history import Order
from specviz.views.runs import state
from specviz.views.runs.columns import COLUMNS, USUAL_COLUMNS, table_of

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(), some, max_size=2),
)


@given(value=ANYTHING, key=st.sampled_from([*state.DEFAULTS]))
def test_every_control_gets_a_value_that_it_can_show(key: str, value: Any) -> None:
    found = state.restored(key, value, state.DEFAULTS[key])
    if key in state.OPTIONS:
        assert found in state.OPTIONS[key]
    elif key == state.TEXT:
        assert isinstance(found, str)
    elif key == state.SHOWN:
        assert {*found} <= {*COLUMNS}
    elif key == state.DAYS:
        assert all(isinstance(day, date) for day in found) and len(found) <= 2
    else:
        assert all(isinstance(one, str) for one in found)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (state.ORDER, "tok/s", Order.OUTPUT_THROUGHPUT),
        (state.LINES, "Prompts", state.PROMPTS),
        (state.SHOWN, ["tok/s", "gone", "kind"], ["tok/s", "kind"]),
        (state.SHOWN, [], []),
        (state.DAYS, ["2026-11-01", "2026-11-03"], [date(2026, 11, 1), date(2026, 11, 3)]),
        (state.list_key("methods"), ["ngram"], ["ngram"]),
        (state.TEXT, "a", "a"),
    ],
)
def test_what_was_saved_is_restored(key: str, value: Any, expected: Any) -> None:
    saved = json.loads(json.dumps(value))
    assert state.restored(key, saved, state.DEFAULTS[key]) == expected


def test_every_column_can_be_shown_alone_and_the_usual_ones_are_some_of_them() -> None:
    assert {*USUAL_COLUMNS} < {*COLUMNS}
    for name in COLUMNS:
        assert list(table_of([], [name]).columns) == []  # of no lines every column is empty
