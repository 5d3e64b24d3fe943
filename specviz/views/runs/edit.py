"""Editing stored runs: name, note, tags, deletion and undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import streamlit as st
from duckdb import DuckDBPyConnection
from streamlit.delta_generator import DeltaGenerator

from specviz.analysis.text import counted, terminal_text
from specviz.errors import SpecvizError
from specviz.store import Store
from specviz.store.history import edits
from specviz.store.history.about import About, read_about
from specviz.store.history.edits import KEPT_DELETED
from specviz.store.history.filter import read_choices
from specviz.store.history.line import HistoryRow, Item, Kind
from specviz.views.runs import state
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped

NOUNS = {Kind.RUN: "run", Kind.BENCHMARK: "benchmark", Kind.TOOL_RESULT: "result from elsewhere"}


@dataclass(frozen=True, slots=True)
class Subject:
    """One line that is edited, as it is now."""

    item: Item
    name: str | None
    note: str | None
    tags: tuple[str, ...]


def subject(about: About) -> Subject:
    """A run as something to edit."""
    return Subject(Item(Kind.RUN, about.run_id), about.name, about.note, about.tags)


def subjects(store: Store, rows: Sequence[HistoryRow]) -> list[Subject]:
    """Lines of the list as something to edit: groups and prompts as their runs."""
    known = store.read(read_about, [run_id for row in rows for run_id in row.run_ids])
    found = []
    for row in rows:
        if row.run_ids:
            found += [subject(known[run_id]) for run_id in row.run_ids if run_id in known]
        else:
            found.append(Subject(row.item, row.name, row.note, row.tags))
    return found


@st.dialog("Name, tags and note", width="medium")
def edit_all(store: Store, subjects: Sequence[Subject]) -> None:
    """Name, note and tags; with several runs, a change applies to all."""
    _form(store, subjects, name=True, tags=True, note=True)


@st.dialog("Rename")
def edit_name(store: Store, subjects: Sequence[Subject]) -> None:
    _form(store, subjects, name=True)


@st.dialog("Tags")
def edit_tags(store: Store, subjects: Sequence[Subject]) -> None:
    _form(store, subjects, tags=True)


@st.dialog("Note", width="medium")
def edit_note(store: Store, subjects: Sequence[Subject]) -> None:
    _form(store, subjects, note=True)


@st.dialog("Remove for good")
def confirm_removal(store: Store, items: Sequence[Item]) -> None:
    """Ask once more: this cannot be undone."""
    st.markdown(f"**{described(items)}** with all requests, steps and decisions. No undo.")
    if st.button("Remove for good", type="primary", icon=":material/delete_forever:"):
        state.forget_undo()
        _write(store, lambda cursor: edits.remove(cursor, items))


def delete(store: Store, items: Sequence[Item]) -> None:
    """Delete lines and offer undo, or show at the top why that cannot be (a callback: what a
    button's `if` would do is lost if the page is clicked again before it comes to it)."""
    now = datetime.now(UTC)
    try:
        store.write(edits.delete, items, now)
    except SpecvizError as error:
        show_error(error)
    else:
        state.offer_undo(items, f"Deleted: {described(items)}.")


def bring_back(store: Store, items: Sequence[Item]) -> None:
    """Undo a deletion, or show at the top why it cannot be undone (a callback, as `delete`)."""
    try:
        store.write(edits.restore, items)
    except SpecvizError as error:
        show_error(error)
    else:
        offered = state.undo()
        if offered and {*offered.items} <= {*items}:
            state.forget_undo()


def undo_banner(store: Store) -> None:
    """What was deleted last, while it can be undone with one click."""
    undo = state.undo()
    if undo is None:
        return
    with _banner("runs_undo_banner"):
        kept = f"Kept under Deleted for {KEPT_DELETED.days} days."
        st.text(f"{undo.sentence} {kept}", width="stretch")
        _undo_button(store, undo.items, "runs_undo_button")
        st.button("Dismiss", type="tertiary", key="runs_undo_dismiss", on_click=state.forget_undo)


def deleted_banner(store: Store, items: Sequence[Item], at: datetime) -> None:
    """On an opened line that is deleted: since when, until when, and Undo."""
    until = (at + KEPT_DELETED).astimezone(state.zone())
    with _banner("runs_deleted_banner"):
        st.text(
            f"Deleted {at.astimezone(state.zone()):%d %B %Y, %H:%M}. It is in no list, and is "
            f"removed for good after {until:%d %B}.",
            width="stretch",
        )
        _undo_button(store, items, "runs_restore_opened")


def _undo_button(store: Store, items: Sequence[Item], key: str) -> None:
    st.button(
        "Undo", icon=":material/undo:", key=key, on_click=bring_back, args=(store, tuple(items))
    )


def described(items: Sequence[Item]) -> str:
    """`2 runs and 1 benchmark`."""
    parts = [
        counted(sum(item.kind is kind for item in items), noun)
        for kind, noun in NOUNS.items()
        if any(item.kind is kind for item in items)
    ]
    return " and ".join(part.replace("elsewheres", "elsewhere") for part in parts)


def spelled_note(note: str) -> str:
    """A note with its lines and visible signs for control characters."""
    return "\n".join(map(terminal_text, note.splitlines()))


def common_tags(subjects: Sequence[Subject]) -> list[str]:
    """Those that all lines have."""
    return sorted(set.intersection(*({*one.tags} for one in subjects)))


def _form(
    store: Store,
    subjects: Sequence[Subject],
    *,
    name: bool = False,
    tags: bool = False,
    note: bool = False,
) -> None:
    """The fields that are asked for, and Save."""
    first, common = subjects[0], common_tags(subjects)
    old_name = next((one.name for one in subjects if one.name), "")
    same_note = first.note if len({one.note for one in subjects}) == 1 else None
    new_name, new_tags, new_note = old_name, common, same_note or ""
    if name:
        new_name = st.text_input("Name", new_name, max_chars=edits.MAX_NAME)
    if tags:
        new_tags = _tag_field(store, common, several=len(subjects) > 1)
    if note:
        new_note = st.text_area("Note", new_note, max_chars=edits.MAX_NOTE, height=140)
        if len(subjects) > 1:
            st.caption(f"Replaces the notes of all {len(subjects)}.")
    items = [one.item for one in subjects]

    def save(cursor: DuckDBPyConnection) -> None:
        if name and new_name != old_name:
            for item in items:
                edits.rename(cursor, item, new_name)
        if note and new_note != (same_note or ""):
            edits.write_note(cursor, items, new_note)
        edits.tag(cursor, items, add=new_tags, remove={*common} - {*new_tags})

    if st.button("Save", type="primary", key="runs_save"):
        _write(store, save)


def _tag_field(store: Store, common: list[str], *, several: bool) -> list[str]:
    """Tags that are in use, to be switched on and off, and room for new ones."""
    known = sorted({*store.read(read_choices).tags, *common})
    chosen: list[str] = []
    if known:
        chosen = st.pills(
            "Tags",
            known,
            selection_mode="multi",
            default=common,
            format_func=lambda text: escaped(terminal_text(text)),
        )
    if several:
        st.caption("Selected: tags that all of them have. Tags that only some have are kept.")
    new = st.text_input("New tags, separated by commas", key="runs_new_tags")
    return [*chosen, *new.split(",")]


def _write(store: Store, change: Callable[[DuckDBPyConnection], None]) -> None:
    """Save a change and show the page with it, or say why it cannot be saved."""
    try:
        store.write(change)
    except SpecvizError as error:
        show_error(error)
    else:
        st.rerun()


def _banner(key: str) -> DeltaGenerator:
    return st.container(border=True, horizontal=True, vertical_alignment="center", key=key)
