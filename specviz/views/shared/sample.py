"""Which store a page is about; where that is the sample, its label, and the way to hide it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specviz.errors import StoreError
from specviz.runtime import current
from specviz.store import Store
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import clear_address


def store_of_runs(ids: Sequence[str] = ()) -> Store:
    """The store that a page of runs is about; `ids`: what its address names. The sample gets its
    label above everything else. Raises StoreError."""
    shown = current().shown
    return _labelled(shown.runs(ids), shown.runs, "run")


def store_of_benchmarks(*ids: str | None) -> Store:
    """The store that a page of benchmarks is about; see `store_of_runs`."""
    shown = current().shown
    return _labelled(shown.benchmarks([one for one in ids if one]), shown.benchmarks, "benchmark")


def offer_sample() -> None:
    """Where a page is empty: the way back to a hidden sample, or why there is none."""
    shown = current().shown
    if shown.problem is not None:
        st.caption(escaped(shown.problem))
    elif shown.can_come_back() and st.button(
        "Show the sample", icon=":material/visibility:", key="sample_show"
    ):
        _change(shown.bring_back)


def _labelled(store: Store, unasked: Callable[[], Store], noun: str) -> Store:
    label = st.container()  # also where there is none: nothing after it moves when it goes
    recorded = current().shown.recorded if store.refusal else None
    if recorded is None:
        return store
    is_asked_for = unasked() is not store
    until = (
        f"It is not among your {noun}s."
        if is_asked_for
        else f"It goes once you have a {noun} of your own."
    )
    with label, _row():
        st.markdown(
            f":small[:blue-badge[:material/science: **Sample**] Recorded on "
            f"{recorded.at:%-d %b %Y} on {escaped(recorded.hardware)}. "
            f"{until}]",
            width="stretch",
        )
        if is_asked_for:
            if st.button(f"Show your own {noun}s", key="sample_leave", type="tertiary"):
                clear_address()
                st.rerun()
        elif st.button(
            "Hide the sample", icon=":material/visibility_off:", key="sample_hide", type="tertiary"
        ):
            _change(current().shown.hide)
    return store


def _row() -> DeltaGenerator:
    return st.container(
        border=True, horizontal=True, vertical_alignment="center", key="sample_label"
    )


def _change(change: Callable[[], None]) -> None:
    """Hide or show it; what the address names may be of the sample."""
    try:
        change()
    except StoreError as error:
        show_error(error)
    else:
        clear_address()
        st.rerun()
