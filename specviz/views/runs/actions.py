"""What the Runs page does with the lines that are ticked."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from specviz.store import Store
from specviz.store.history.edits import KEPT_DELETED
from specviz.store.history.history import read_run_ids
from specviz.store.history.line import HistoryRow, Item, Kind
from specviz.views.runs import edit, state
from specviz.views.shared import pages
from specviz.views.shared.exchange import export_control, import_control


def act_on(store: Store, chosen: Sequence[HistoryRow]) -> None:
    """Controls for the ticked lines, always in the same places."""
    items = [item for row in chosen for item in row.items]
    if state.shows_deleted():
        _deleted_actions(store, items)
        return
    _open_button(chosen)
    _compare_button(store, items)
    fixed = store.refusal is not None
    for label, icon, dialog, ready in (
        ("Tag", ":material/sell:", edit.edit_tags, bool(chosen)),
        ("Note", ":material/notes:", edit.edit_note, bool(chosen)),
        ("Rename", ":material/edit:", edit.edit_name, len(chosen) == 1),
    ):
        key = f"runs_do_{label}"
        if st.button(label, icon=icon, disabled=fixed or not ready, key=key, help=store.refusal):
            dialog(store, edit.subjects(store, chosen))
    st.button(
        "Delete",
        icon=":material/delete:",
        disabled=fixed or not chosen,
        key="runs_do_delete",
        help=store.refusal,
        on_click=edit.delete,
        args=(store, tuple(items)),
    )
    with st.popover("Export", icon=":material/output:", disabled=not chosen, key="runs_do_export"):
        export_control(store, [item.item_id for item in items])
    st.text(edit.described(items) + " ticked" if chosen else "Tick lines to act on them.")


def _deleted_actions(store: Store, items: Sequence[Item]) -> None:
    st.button(
        "Bring back",
        icon=":material/undo:",
        disabled=not items,
        key="runs_do_restore",
        on_click=edit.bring_back,
        args=(store, tuple(items)),
    )
    if st.button(
        "Remove for good",
        icon=":material/delete_forever:",
        disabled=not items,
        key="runs_do_remove",
    ):
        edit.confirm_removal(store, items)
    st.space("stretch")
    st.text(f"Removed for good {KEPT_DELETED.days} days after they were deleted.")


def import_button(store: Store) -> None:
    """Take exports of other machines and results of other tools in."""
    with st.popover("Import", icon=":material/input:", key="runs_do_import"):
        import_control(store)


def _open_button(chosen: Sequence[HistoryRow]) -> None:
    ready = len(chosen) == 1
    st.button(
        "Open",
        icon=":material/open_in_new:",
        disabled=not ready,
        key="runs_do_open",
        on_click=state.open_item,
        args=(chosen[0].item,) if ready else None,
    )


def _compare_button(store: Store, items: Sequence[Item]) -> None:
    elsewhere = any(item.kind is Kind.TOOL_RESULT for item in items)
    run_ids = store.read(read_run_ids, items)
    if st.button(
        "Compare",
        icon=":material/difference:",
        key="runs_do_compare",
        disabled=len(run_ids) < 2 or elsewhere,
        help="Results from elsewhere have no requests to pair."
        if elsewhere
        else "Two or more runs, or the arms of a benchmark.",
    ):
        pages.switch_to(pages.COMPARE, {"arms": ",".join(run_ids)})
