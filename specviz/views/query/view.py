"""The right side of the Query page: what is asked, the editor, and the answer."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specviz.analysis.text import counted
from specviz.errors import SpecvizError
from specviz.store import Store
from specviz.store.saved import NAME_CHARACTERS
from specviz.store.sql.questions import answer_of
from specviz.store.sql.result import SqlResult
from specviz.store.sql.sandbox import TIMEOUT_S, run_sql
from specviz.store.sql.saved_queries import put_query
from specviz.views.query import state as query_state
from specviz.views.query.filters import choose_filter
from specviz.views.query.lists import schema
from specviz.views.query.result import show_result
from specviz.views.query.sql_editor import sql_editor
from specviz.views.query.state import Asked, Asks
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped


def show_query(store: Store, own: Store, asked: Asked) -> None:
    """What `store` is asked; queries are saved in `own`. Raises StoreError if the tables cannot be
    read."""
    store.queries.warm()
    _heading(asked)
    if asked.question is not None:
        choose_filter(store, asked.question)
        asked = query_state.asked()  # with the filter of a link, which its controls have read now
    sql_editor(
        asked.sql,
        schema(store),
        key=query_state.EDITOR,
        on_asked=query_state.from_editor,
    )
    if query_state.SAVING in st.session_state:
        _save(own, st.session_state.pop(query_state.SAVING))
    if not query_state.is_in_url():
        st.caption("The query is too long for an address: a link would not show it.")
    if asked.sql and query_state.may_run(asked):
        _answer(store, asked)
    elif asked.sql:
        st.info("This query came with the address: **Run** asks it.", icon=":material/link:")


def _heading(asked: Asked) -> None:
    if asked.problem:
        st.warning(escaped(asked.problem), icon=":material/link_off:")
    if asked.question is not None:
        st.subheader(asked.question.asks)
        st.caption(escaped(asked.question.says))
    elif not asked.sql:
        st.subheader("Ask the stored runs")
        st.caption(
            "A question at the left opens with a click. Or write SQL: it only reads, "
            f"and may take {TIMEOUT_S:g} s. **Tables** explains every column."
        )
    else:
        st.subheader("Your query")


def _answer(store: Store, asked: Asked) -> None:
    limit_rows = query_state.row_limit()
    place = st.empty()
    asks = (str(store.location), asked.sql, limit_rows)
    found = query_state.answer(asks, lambda: _asked(store, asks, place))
    place.empty()
    if isinstance(found, SpecvizError):
        show_error(found)
        return
    _facts(store, asked, found)
    if asked.question is not None:
        _sentence(asked, found)
    show_result(asked, found, schema(store))


def _asked(store: Store, asks: Asks, place: DeltaGenerator) -> SqlResult:
    """The answer; what a person clicks meanwhile stops the query."""
    began = time.monotonic()
    waiting: DeltaGenerator | None = None

    def wait() -> None:
        nonlocal waiting
        if waiting is None:
            with place.container(horizontal=True, vertical_alignment="center"):
                waiting = st.empty()
                st.button("Stop", icon=":material/stop:", on_click=query_state.stop, args=(asks,))
        seconds = time.monotonic() - began
        waiting.text(f"Running: {seconds:.0f} s of {TIMEOUT_S:g} s at most")

    _, sql, limit_rows = asks
    return run_sql(store, sql, limit_rows=limit_rows, while_waiting=wait)


def _facts(store: Store, asked: Asked, found: SqlResult) -> None:
    """How many rows, how long it took, and whether there are more."""
    rows = len(found.rows)
    facts = f"{counted(rows, 'row')} · {found.elapsed_ms:,.0f} ms"
    if found.data_as_of is not None and store.refusal is None:  # the sample never changes
        facts = f"{facts} · data of {found.data_as_of:%d %B %Y, %H:%M:%S} UTC"
    limit_rows = query_state.row_limit()
    if not found.truncated and limit_rows == query_state.ROW_LIMITS[0]:
        st.caption(facts)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        cut = f" · cut off at {rows:,} rows" if found.truncated else ""
        st.caption(facts + cut, width="content")
        key = f"query_rows_{asked.digest}"
        st.selectbox(
            "Rows at most",
            query_state.ROW_LIMITS,
            index=query_state.ROW_LIMITS.index(limit_rows),
            format_func=lambda rows: f"{rows:,} rows at most",
            key=key,
            on_change=query_state.write_row_limit,
            args=(key,),
            label_visibility="collapsed",
            width=210,
        )


def _sentence(asked: Asked, found: SqlResult) -> None:
    assert asked.question is not None
    if not found.rows and asked.sql != asked.question.sql:
        st.info("Nothing stored passes these filters.", icon=":material/filter_alt_off:")
    elif not found.rows:
        st.info(escaped(asked.question.no_rows), icon=":material/inbox:")
    elif answer := answer_of(asked.question, [c.name for c in found.columns], found.rows):
        st.markdown(f"**{escaped(answer)}**")


@st.dialog("Save the query")
def _save(store: Store, sql: str) -> None:
    name = st.text_input("Name", max_chars=NAME_CHARACTERS, key=query_state.SAVE_NAME)
    st.caption("An existing query with this name is replaced.")
    if st.button("Save", type="primary", icon=":material/save:"):
        try:
            now = datetime.now(UTC)
            store.write(put_query, name, sql, now)
        except SpecvizError as error:
            show_error(error)
        else:
            st.session_state[query_state.LIST] = "Saved"
            st.rerun()
