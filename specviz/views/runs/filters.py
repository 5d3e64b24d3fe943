"""The Runs page's filters: in the URL, so that a link shows the same lines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import streamlit as st

from specviz.store.history.filter import Choices, HistoryFilter
from specviz.store.history.history import Order
from specviz.store.history.line import Kind
from specviz.views.runs import state
from specviz.views.runs.columns import COLUMNS, USUAL_COLUMNS
from specviz.views.shared.text import CATEGORY_NAMES
from specviz.views.shared.url_controls import bound

ORDER_NAMES = {
    Order.NEWEST: "newest first",
    Order.OLDEST: "oldest first",
    Order.NAME: "by name",
    Order.REQUESTS: "most requests first",
    Order.ACCEPTANCE: "highest acceptance first",
    Order.TOKENS_PER_STEP: "most tok/step first",
    Order.OUTPUT_THROUGHPUT: "most tok/s first",
}
_LABELS = {
    "methods": "Method",
    "models": "Model",
    "servers": "Server",
    "categories": "Category",
    "tags": "Tag",
    "kinds": "Kind",
    "fidelities": "Fidelity",
    "statuses": "Status",
}
KINDS = (Kind.RUN, Kind.BENCHMARK, Kind.TOOL_RESULT)
FIRST = ("methods", "models", "categories", "tags")
MORE = ("servers", "kinds", "fidelities", "statuses")
_HELP = {
    "servers": "Where requests were answered: the URL, or *in the app* for the embedded engine.",
    "fidelities": "**traced**: every drafted token with its probabilities; **counted**: exact "
    "counts per step; **inferred**: from the sizes of streamed chunks.",
    "kinds": "**run**: one arm, one or more requests; **benchmark**: many runs of one plan; "
    "**elsewhere**: figures that another tool measured.",
}


def choose_filter(choices: Choices) -> tuple[HistoryFilter, Order]:
    """Two rows of controls, the rarer ones behind a button; returns the filter."""
    text, when, order = st.columns([5, 2, 2])
    text.text_input(
        "Search",
        placeholder="Search names, notes, tags and prompts",
        icon=":material/search:",
        label_visibility="collapsed",
        live=True,
        on_change=state.first_page,
        **bound(state.TEXT),
    )
    when.selectbox("When", state.WHENS, **_quiet(), **bound(state.WHEN))
    order.selectbox(
        "Order",
        list(Order),
        format_func=ORDER_NAMES.__getitem__,
        **_quiet(),
        **bound(state.ORDER),
    )
    if st.session_state[state.WHEN] == state.BETWEEN:
        when.date_input("Days", [], **_quiet(), **bound(state.DAYS))
    columns = st.columns([3, 3, 3, 3, 2], vertical_alignment="bottom")
    for column, name in zip(columns, FIRST, strict=False):
        with column:
            _several(name, choices)
    with columns[-1].popover(_more(), icon=":material/tune:", width="stretch", key="runs_more"):
        for name in MORE:
            _several(name, choices, label_visibility="visible")
    return state.wanted(datetime.now(UTC)), state.order()


def choose_columns() -> None:
    """Which columns the list has, besides the name."""
    with st.popover("Columns", icon=":material/view_column:", key="runs_choose_columns"):
        st.multiselect(
            "Columns, in this order",
            COLUMNS,
            default=list(USUAL_COLUMNS),
            help="Columns that are empty in all lines of the page are left out.",
            **bound(state.SHOWN),
        )


def _more() -> str:
    """Reports how many of the hidden filters are set."""
    number = sum(bool(st.session_state.get(state.list_key(name))) for name in MORE)
    return f"More filters ({number})" if number else "More filters"


def _several(name: str, choices: Choices, **shown: Any) -> None:
    label = _LABELS[name]
    offered = list(KINDS) if name == "kinds" else list(getattr(choices, name))
    key = state.list_key(name)
    if chosen := st.session_state.get(key):  # what is no longer there is not asked for
        st.session_state[key] = [value for value in chosen if value in offered]
    st.multiselect(
        label,
        [str(value) for value in offered],
        placeholder=label,
        format_func=lambda value: CATEGORY_NAMES.get(value, value),
        help=_HELP.get(name),
        **_quiet() | shown,
        **bound(key),
    )


def _quiet() -> dict[str, Any]:
    return {"label_visibility": "collapsed", "on_change": state.first_page}
