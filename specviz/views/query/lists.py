"""The left side of the Query page: questions that ship, saved queries, what tables there are."""

from __future__ import annotations

from html import escape

import streamlit as st

from specviz.store import Store
from specviz.store.saved import QUERIES, Saved, read_saved
from specviz.store.sql.questions import question_groups
from specviz.store.sql.schema import SchemaTable, read_schema
from specviz.views.query import state as query_state
from specviz.views.shared.charts import page_ground
from specviz.views.shared.saved import rename_and_delete
from specviz.views.shared.text import escaped

_LEFT = """<style>
[class*="st-key-query_question_"] button {
  justify-content: flex-start; min-height: 0; padding-block: 2px; text-align: left;
}
[class*="st-key-query_question_"] button p { text-align: left; line-height: 1.3; }
</style>"""
"""Questions are read as lines, not as buttons."""

OPENED_TABLES = 3
"""Most matching tables that are shown opened."""


def show_lists(store: Store, own: Store) -> None:
    """One list at a time; queries are saved in `own`. Raises StoreError."""
    chosen = st.segmented_control(
        "List",
        query_state.LISTS,
        default=query_state.LISTS[0],
        required=True,
        key=query_state.LIST,
        label_visibility="collapsed",
        persist_state="session",
        width="stretch",
    )
    if chosen == "Saved":
        _saved(own)
    elif chosen == "Tables":
        _tables(schema(store))
    else:
        _questions()


def schema(store: Store) -> list[SchemaTable]:
    """The tables with their meanings; they do not change while the store is open."""
    return _schema(store, id(store))


@st.cache_resource(max_entries=2, show_spinner=False)
def _schema(_store: Store, store_id: int) -> list[SchemaTable]:
    return _store.read(read_schema)


def _questions() -> None:
    asked = query_state.asked().question
    st.html(_LEFT)
    for group in question_groups():
        with st.container(gap="xsmall", key=f"query_group_{group.title}"):
            st.caption(group.title)
            for one in group.questions:
                st.button(
                    f"**{one.asks}**" if one == asked else one.asks,
                    key=f"query_question_{one.question_id}",
                    type="tertiary",
                    on_click=query_state.ask_question,
                    args=(one.question_id,),
                )


def _saved(store: Store) -> None:
    saved = store.read(read_saved, QUERIES)
    if not saved:
        st.caption("None yet: **Save …** under the editor saves a query.")
    for one in saved:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                escaped(one.name),
                key=f"query_saved_{one.name}",
                type="tertiary",
                on_click=query_state.ask_sql,
                args=(one.content,),
                help=f"Saved {one.saved_at:%d %B %Y, %H:%M} UTC",
            )
            st.space("stretch")
            with st.popover("", icon=":material/more_horiz:", type="tertiary"):
                _change(store, one)


def _change(store: Store, saved: Saved) -> None:
    name = st.text_input("Name", saved.name, key=f"query_name_{saved.name}")
    with st.container(horizontal=True):
        rename_and_delete(store, QUERIES, saved, name, "query")


def _tables(tables: list[SchemaTable]) -> None:
    """Every column with its unit and meaning; looked for in names and meanings."""
    wanted = (
        st.text_input(
            "Find a column",
            key="query_find",
            placeholder="Find a column: ttft, tokens, ms, …",
            label_visibility="collapsed",
        )
        .strip()
        .lower()
    )
    found = [table for table in (_matching(table, wanted) for table in tables) if table.columns]
    if not found:
        st.caption("No table or column matches.")
    for table in found:
        opened = bool(wanted) and len(found) <= OPENED_TABLES
        with st.expander(table.name, expanded=opened, key=f"query_table_{table.name}_{opened}"):
            st.text(table.comment)
            st.html(_columns_html(table))


def _matching(table: SchemaTable, wanted: str) -> SchemaTable:
    if wanted in table.name or wanted in table.comment.lower():
        return table
    columns = tuple(
        column
        for column in table.columns
        if wanted in column.name or wanted in column.comment.lower()
    )
    return SchemaTable(table.name, table.comment, columns)


def _columns_html(table: SchemaTable) -> str:
    muted = page_ground().muted
    return "".join(
        '<div style="margin-bottom:7px;overflow-wrap:anywhere;font-size:13px;line-height:1.35">'
        f"<code>{escape(column.name)}</code> "
        f'<span style="color:{muted};font-size:12px">{escape(column.type)}</span><br>'
        f"{escape(column.comment)}</div>"
        for column in table.columns
    )
