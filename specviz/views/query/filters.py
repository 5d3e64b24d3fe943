"""What a question is asked of: controls in the URL, kept from question to question."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from specviz.store import Store
from specviz.store.history.filter import read_choices
from specviz.store.sql.question_filter import has_categories
from specviz.store.sql.questions import Question
from specviz.views.query import state as query_state
from specviz.views.shared.text import CATEGORY_NAMES
from specviz.views.shared.url_controls import bound


def choose_filter(store: Store, asked: Question) -> None:
    """Method, model, category, since when, and the smallest sample, where they apply."""
    choices = store.read(read_choices)
    columns = st.columns(5)
    with columns[0]:
        _several("Method", query_state.METHODS, choices.methods)
    with columns[1]:
        _several("Model", query_state.MODELS, choices.models)
    with columns[2]:
        if has_categories(asked):
            _several("Category", query_state.CATEGORIES, choices.categories)
    columns[3].date_input("Since, UTC", None, **bound(query_state.SINCE))
    if asked.sample:
        columns[4].number_input(
            "Smallest sample",
            min_value=0,
            value=None,
            step=1,
            placeholder=asked.sample,
            help=f"Only groups with at least so many {asked.sample}.",
            **bound(query_state.AT_LEAST),
        )


def _several(label: str, key: str, offered: Sequence[str]) -> None:
    if chosen := st.session_state.get(key):  # what is no longer stored is not asked for
        st.session_state[key] = [value for value in chosen if value in offered]
    st.multiselect(
        label,
        offered,
        placeholder="all",
        format_func=lambda value: CATEGORY_NAMES.get(value, value),
        **bound(key),
    )
