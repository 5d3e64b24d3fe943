"""All runs, benchmarks and results from elsewhere as one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2s
from math import ceil

import streamlit as st

from specviz.analysis.text import counted, size_text, terminal_text
from specviz.runtime import current
from specviz.store import Store
from specviz.store.history.filter import HistoryFilter, read_choices
from specviz.store.history.history import History, Order, has_history, read_history
from specviz.store.history.line import HistoryRow, Item
from specviz.store.history.prompts import read_prompt, read_prompts
from specviz.store.history.size import file_size_of, read_share, share_text
from specviz.store.sql.questions import question
from specviz.views.runs import edit, state
from specviz.views.runs.actions import act_on, import_button
from specviz.views.runs.columns import table_of
from specviz.views.runs.filters import choose_columns, choose_filter
from specviz.views.runs.saved import saved_views, views_button
from specviz.views.shared import pages
from specviz.views.shared.exchange import import_control
from specviz.views.shared.sample import offer_sample
from specviz.views.shared.text import escaped

PAGE_SIZE = 50
MOST_HEIGHT, ROW_HEIGHT = 720, 35
QUESTION = "category-position"
NAME_PX = 230
LINES_HELP = """**Together**: runs that were started together are one line, which opens them side \
by side. **Single runs**: a line for each arm. **Prompts**: a line for each prompt, which opens to \
its runs."""
COMPARES = "Of several runs, the highest: open the line to compare them."


def show_list(store: Store) -> None:
    """The lines that the filters let through. Raises StoreError."""
    state.begin_list()
    if clicked := state.take_clicked():
        _open(clicked)
    if not store.read(has_history):
        show_empty(store)
        return
    _heading(store)
    edit.undo_banner(store)
    views = st.container()
    wanted, order = choose_filter(store.read(read_choices))
    with views:  # which of them is open follows from the filters
        saved_views(store)  # the sample has none
    if wanted.prompt_key:
        _prompt_banner(store, wanted.prompt_key)
    page = state.page()
    found = _read(store, wanted, order, page)
    if not found.rows and page > 1:
        state.first_page()
        found = _read(store, wanted, order, 1)
    actions = st.container(horizontal=True, vertical_alignment="center")
    if found.rows:
        chosen = _table(found.rows)
    else:
        chosen = []
        _nothing()
    with actions:
        act_on(store, chosen)
    _footer(store, found.total, chosen)


def _read(store: Store, wanted: HistoryFilter, order: Order, page: int) -> History:
    """One page of the lines, from 1."""
    offset = (page - 1) * PAGE_SIZE
    if state.lines() == state.PROMPTS:
        return store.read(read_prompts, wanted, order=order, limit=PAGE_SIZE, offset=offset)
    together = state.lines() == state.TOGETHER
    return store.read(
        read_history, wanted, together=together, order=order, limit=PAGE_SIZE, offset=offset
    )


def show_empty(store: Store) -> None:
    """Before anything is stored: what will be here, and how to get it."""
    st.markdown("#### No runs yet")
    st.markdown(
        "Every run on the Live page and every `specviz run` is kept here with its decisions, every "
        "benchmark with its figures, and what other tools measured, once it is imported."
    )
    with st.container(horizontal=True):
        pages.link(pages.LIVE, "Go to Live")
        pages.link(pages.BENCHMARK, "Start a benchmark")
        offer_sample()
    st.markdown("##### Import")
    if any(outcome.stored for outcome in import_control(store)):
        st.rerun()


def _heading(store: Store) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if store.refusal is None:
            _switch("View", (state.STORED, state.DELETED), state.VIEW)
        _switch("Lines", (state.TOGETHER, state.SINGLE, state.PROMPTS), state.LINES, LINES_HELP)
        st.space("stretch")
        choose_columns()
        if store.refusal is None:
            views_button(store)
        import_button(current().store)


def _switch(label: str, options: Sequence[str], key: str, help_text: str | None = None) -> None:
    """What the list shows: the first of `options`, until another is chosen."""
    st.segmented_control(
        label,
        options,
        default=options[0],
        required=True,
        key=key,
        on_change=state.first_page,
        label_visibility="collapsed",
        bind="query-params",
        help=help_text,
    )


def _prompt_banner(store: Store, key: str) -> None:
    """The prompt whose runs are listed, and the way back."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        prompt = store.read(read_prompt, key)
        if prompt is None:
            st.text("No stored run answered this prompt.", width="stretch")
        else:
            st.markdown(f"Runs that answered **{escaped(terminal_text(prompt))}**")
            st.space("stretch")
        st.button(
            "All prompts",
            icon=":material/arrow_back:",
            key="runs_all_prompts",
            on_click=state.show_prompts,
        )


def _table(rows: Sequence[HistoryRow]) -> list[HistoryRow]:
    """The table; the rows that are ticked."""
    table = table_of(rows, state.columns())
    key = "runs_table_" + _digest(row.item.item_id for row in rows)
    items = [row.item for row in rows]
    clicks = f"{key}_open"
    moment = "D MMM YYYY, HH:mm"
    selection = st.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key=key,
        height=min(MOST_HEIGHT, ROW_HEIGHT * (len(rows) + 1) + 3),
        placeholder="–",
        column_config={
            "name": st.column_config.ButtonColumn(
                "name: click to open",
                width=NAME_PX,
                pinned=True,
                alignment="left",
                type="tertiary",
                key=clicks,
                on_click=state.click,
                args=(items, clicks),
            ),
            "arm": st.column_config.TextColumn(width=210),
            "kind": st.column_config.TextColumn(width=90),
            "runs": st.column_config.NumberColumn(width=60, format="localized"),
            "tags": st.column_config.ListColumn(width=100),
            "category": st.column_config.TextColumn(width=110),
            "started": st.column_config.DatetimeColumn("started, UTC", format=moment, width=132),
            "imported": st.column_config.DatetimeColumn("imported, UTC", format=moment),
            "deleted": st.column_config.DatetimeColumn("deleted, UTC", format=moment),
            "requests": st.column_config.NumberColumn(format="localized", width=80),
            "acceptance": st.column_config.NumberColumn(
                format="%.3f",
                width=88,
                help=f"Accepted / draft tokens of all requests. {COMPARES}",
            ),
            "tok/step": st.column_config.NumberColumn(format="%.2f", width=72, help=COMPARES),
            "tok/s": st.column_config.NumberColumn(
                format="%.1f",
                width=66,
                help=f"Of one stream: output tokens / time that requests took. {COMPARES}",
            ),
            "status": st.column_config.TextColumn(width=80),
        },
    )
    return [rows[place] for place in selection["selection"]["rows"] if place < len(rows)]


def _nothing() -> None:
    """The list is empty: why, and what to do."""
    if state.is_filtered():
        st.info("Nothing matches these filters.", icon=":material/filter_alt_off:")
        st.button("Clear the filters", on_click=state.clear_filters, key="runs_clear")
    elif state.shows_deleted():
        st.info("Nothing is deleted.", icon=":material/check:")
    else:
        st.info("Everything is deleted: switch to Deleted.", icon=":material/delete:")


def _footer(store: Store, total: int, chosen: Sequence[HistoryRow]) -> None:
    """The size of the database, where to ask all runs, and pages."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{counted(total, 'line')} · {_room(store, chosen)}")
        st.space("stretch")
        pages.link(
            pages.QUERY,
            f"Ask a question of all runs: {question(QUESTION).asks}",
            parameters={"question": QUESTION},
        )
        num_pages = max(1, ceil(total / PAGE_SIZE))
        if num_pages > 1:
            st.pagination(num_pages, key=state.PAGE, bind="query-params")


def _room(store: Store, chosen: Sequence[HistoryRow]) -> str:
    """Size of the database, and of the ticked lines."""
    size = None if store.refusal else file_size_of(store)
    text = "the sample" if store.refusal else "a shared database"
    if size:
        text = f"database {size_text(size.file_bytes)}"
        text += f" + {size_text(size.log_bytes)} log" if size.log_bytes else ""
    if chosen:
        items = [item for row in chosen for item in row.items]
        share = store.read(read_share, items)
        text += f" · ticked: {share_text(share, size)}"
    return text


def _open(item: Item) -> None:
    page, query = state.address(item)
    pages.switch_to(page, query)


def _digest(texts: Iterable[str]) -> str:
    return blake2s("\0".join(texts).encode(), digest_size=6).hexdigest()
