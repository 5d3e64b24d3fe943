"""All runs, benchmarks and results from elsewhere as one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2s
from math import ceil

import pandas as pd
import streamlit as st

from specviz.analysis.text import shortened, size_text, terminal_text
from specviz.store import Store
from specviz.store.history.history import (
    History,
    HistoryRow,
    Item,
    Kind,
    has_history,
    read_choices,
    read_history,
)
from specviz.store.history.size import file_size_of, read_share, share_text
from specviz.views.runs import edit, state
from specviz.views.runs.actions import act_on, import_button
from specviz.views.runs.filters import choose_filter
from specviz.views.shared import pages
from specviz.views.shared.exchange import import_control
from specviz.views.shared.text import CATEGORY_NAMES

PAGE_SIZE = 50
MOST_HEIGHT, ROW_HEIGHT = 720, 35
QUESTION, ASKS = "category-position", "Which category rejects most, and at which position?"
LONGEST_CELL = 100


def show_list(store: Store) -> None:
    """The lines that the filters let through. Raises StoreError."""
    state.begin_list()
    if clicked := state.take_clicked():
        _open(clicked)
    if not store.read(has_history):
        st.subheader(pages.RUNS.title)
        show_empty(store)
        return
    _heading(store)
    edit.undo_banner(store)
    wanted, order = choose_filter(store.read(read_choices))
    page = state.page()

    def read(offset: int) -> History:
        return store.read(read_history, wanted, order=order, limit=PAGE_SIZE, offset=offset)

    found = read((page - 1) * PAGE_SIZE)
    if not found.rows and page > 1:
        state.first_page()
        found = read(0)
    actions = st.container(horizontal=True, vertical_alignment="center")
    if found.rows:
        chosen = _table(found.rows)
    else:
        chosen = []
        _nothing()
    with actions:
        act_on(store, chosen)
    _footer(store, found.total, chosen)


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
    st.markdown("##### Import")
    if any(outcome.stored for outcome in import_control(store)):
        st.rerun()


def table_of(rows: Sequence[HistoryRow]) -> pd.DataFrame:
    """One line per row; columns without any value are left out."""
    table = pd.DataFrame(
        {
            "name": [_cell(row.name or row.prompt_start or row.title) for row in rows],
            "kind": [row.item.kind.value for row in rows],
            "arm": [_cell(_arm(row)) for row in rows],
            "deleted": [row.deleted_at for row in rows],
            "tags": [[_cell(text) for text in row.tags] or None for row in rows],
            "started": [row.started_at for row in rows],
            "category": [
                ", ".join(CATEGORY_NAMES.get(name, _cell(name) or "") for name in row.categories)
                or None
                for row in rows
            ],
            "requests": [row.num_requests or None for row in rows],
            "acceptance": [row.draft_acceptance_rate for row in rows],
            "tok/step": [row.tokens_per_step for row in rows],
            "tok/s": [row.output_throughput for row in rows],
            "status": [row.status for row in rows],
            "fidelity": [", ".join(row.fidelities) or None for row in rows],
            "model": [_cell(", ".join(_last(name) for name in row.models)) for row in rows],
            "server": [_cell(", ".join(row.servers)) for row in rows],
            "note": [_cell(row.note) for row in rows],
            "imported": [row.imported_at for row in rows],
        }
    )
    return table.dropna(axis="columns", how="all")


def _heading(store: Store) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(pages.RUNS.title, width="content")
        st.segmented_control(
            "View",
            [state.STORED, state.DELETED],
            default=state.STORED,
            required=True,
            key=state.VIEW,
            on_change=state.first_page,
            label_visibility="collapsed",
            bind="query-params",
        )
        st.space("stretch")
        import_button(store)
        pages.link(
            pages.QUERY,
            f"Ask a question of all runs: {ASKS}",
            parameters={"question": QUESTION},
        )


def _table(rows: Sequence[HistoryRow]) -> list[HistoryRow]:
    """The table; the rows that are ticked."""
    table = table_of(rows)
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
                width=260,
                pinned=True,
                alignment="left",
                type="tertiary",
                key=clicks,
                on_click=state.click,
                args=(items, clicks),
            ),
            "tags": st.column_config.ListColumn(width=120),
            "category": st.column_config.TextColumn(width=110),
            "started": st.column_config.DatetimeColumn("started, UTC", format=moment),
            "imported": st.column_config.DatetimeColumn("imported, UTC", format=moment),
            "deleted": st.column_config.DatetimeColumn("deleted, UTC", format=moment),
            "requests": st.column_config.NumberColumn(format="localized"),
            "acceptance": st.column_config.NumberColumn(
                format="%.3f", help="Accepted / draft tokens of all requests."
            ),
            "tok/step": st.column_config.NumberColumn(format="%.2f"),
            "tok/s": st.column_config.NumberColumn(
                format="%.1f", help="Of one stream: output tokens / time that requests took."
            ),
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
    """Pages, and the size of the database."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{total:,} {'line' if total == 1 else 'lines'} · {_room(store, chosen)}")
        st.space("stretch")
        num_pages = max(1, ceil(total / PAGE_SIZE))
        if num_pages > 1:
            st.pagination(num_pages, key=state.PAGE, bind="query-params")


def _room(store: Store, chosen: Sequence[HistoryRow]) -> str:
    """Size of the database, and of the ticked lines."""
    size = file_size_of(store)
    text = "a shared database"
    if size:
        text = f"database {size_text(size.file_bytes)}"
        text += f" + {size_text(size.log_bytes)} log" if size.log_bytes else ""
    if chosen:
        share = store.read(read_share, [row.item for row in chosen])
        text += f" · ticked: {share_text(share, size)}"
    return text


def _open(item: Item) -> None:
    page, query = state.address(item)
    pages.switch_to(page, query)


def _arm(row: HistoryRow) -> str:
    if row.item.kind is Kind.BENCHMARK and row.methods:
        return f"{row.num_runs} runs: {', '.join(row.methods)}"
    return row.title


def _last(path: str) -> str:
    """A model's own name, without the folders before it."""
    return path.rstrip("/").rpartition("/")[2] or path


def _cell(text: str | None) -> str | None:
    """One line of text, safe to show."""
    return shortened(terminal_text(text), LONGEST_CELL) if text else None


def _digest(texts: Iterable[str]) -> str:
    return blake2s("\0".join(texts).encode(), digest_size=6).hexdigest()
