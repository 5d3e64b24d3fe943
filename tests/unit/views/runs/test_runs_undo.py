"""Deleting and undoing a deletion on the Runs page, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from specviz import runtime
from specviz.config import EngineKind, Run, RunConfig, RunStatus
from specviz.methods import Method
from specviz.store import Store
from specviz.store.history import edits
from specviz.store.history.about import read_about
from specviz.store.history.line import Item, Kind
from tests.support.store.made import made

AT = datetime(2026, 11, 1, tzinfo=UTC)
RUN = Item(Kind.RUN, "r")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A run that was deleted."""
    with runtime.opened(made(tmp_path / "runs.duckdb")) as opened:
        config = RunConfig(EngineKind.EMBEDDED, Method.BASELINE)
        opened.store.ingest(Run("r", "r", config, RunStatus.FINISHED, AT, AT), [])
        opened.store.write(edits.delete, [RUN], AT)
        yield opened.store


def banner() -> None:
    import streamlit as st

    from specviz.runtime import current
    from specviz.store.history.line import Item, Kind
    from specviz.views.runs import edit, state

    if "begun" not in st.session_state:
        st.session_state["begun"] = True
        state.offer_undo([Item(Kind.RUN, "r")], "Deleted: 1 run.")
    if "clicked_elsewhere" in st.session_state:
        st.stop()
    edit.undo_banner(current().store)


@pytest.mark.parametrize("clicked_elsewhere", [False, True])
def test_a_click_on_undo_counts_even_if_its_run_is_cut_short(
    store: Store, clicked_elsewhere: bool
) -> None:
    """Streamlit ends the run of a click at the next one, often before it comes to the button."""
    test = AppTest.from_function(banner, default_timeout=120).run()
    if clicked_elsewhere:
        test.session_state["clicked_elsewhere"] = True
    test.button(key="runs_undo_button").click().run()
    assert not test.exception
    assert store.read(read_about, ["r"])["r"].deleted_at is None
    assert "runs_undo" not in test.session_state


def delete_button() -> None:
    import streamlit as st

    from specviz.runtime import current
    from specviz.store.history.filter import HistoryFilter
    from specviz.store.history.history import read_history
    from specviz.views.runs.actions import act_on

    if "clicked_elsewhere" in st.session_state:
        st.stop()
    store = current().store
    act_on(store, store.read(read_history, HistoryFilter()).rows)


@pytest.mark.parametrize("clicked_elsewhere", [False, True])
def test_a_click_on_delete_counts_even_if_its_run_is_cut_short(
    store: Store, clicked_elsewhere: bool
) -> None:
    store.write(edits.restore, [RUN])
    test = AppTest.from_function(delete_button, default_timeout=120).run()
    if clicked_elsewhere:
        test.session_state["clicked_elsewhere"] = True
    test.button(key="runs_do_delete").click().run()
    assert not test.exception
    assert store.read(read_about, ["r"])["r"].deleted_at is not None
    assert test.session_state["runs_undo"].items == (RUN,)
