"""The traces that the Learn page shows: recorded ones that are shipped, or stored runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from specviz.config import Prompt, Run
from specviz.errors import StoreError
from specviz.methods import Method
from specviz.paths import DATA
from specviz.store import Store, recording_from_dict
from specviz.store.history.filter import HistoryFilter
from specviz.store.history.history import read_history
from specviz.store.history.line import HistoryRow, Kind
from specviz.store.runs.runs import read_requests, read_run, read_trace
from specviz.trace import Fidelity, Trace, fold

TRACES = DATA / "traces"
LOOKED_THROUGH = 200
"""The newest stored runs that are offered, at most."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One traced request: its run, its prompt and every step."""

    run: Run
    prompt: Prompt
    trace: Trace

    @property
    def judges_typically(self) -> bool:
        return self.run.config.judges_typically


@st.cache_resource(show_spinner=False)
def shipped(method: Method) -> Recording:
    """The recorded trace of a method."""
    text = (TRACES / f"{method.value}.json").read_text(encoding="utf-8")
    run, (request,) = recording_from_dict(json.loads(text))
    return Recording(run, request.prompt, fold(request.events))


def stored(store: Store, run_id: str) -> Recording:
    """A stored run's first request. Raises StoreError if nothing is known of its drafts."""
    found = _stored(store, run_id)
    if found.trace.fidelity is not Fidelity.TRACED or not found.trace.steps:
        raise StoreError(f"The run {run_id} was not traced: choose one that was.")
    return found


def stored_choices(store: Store) -> list[HistoryRow]:
    """Stored runs with a trace of their drafts, the newest first."""
    traced = HistoryFilter(kinds=(Kind.RUN,), fidelities=(Fidelity.TRACED,))
    found = store.read(read_history, traced, limit=LOOKED_THROUGH).rows
    return [row for row in found if row.tokens_per_step and method_of(row) is not Method.BASELINE]


def method_of(row: HistoryRow) -> Method | None:
    """The method of a stored run; None if it is not known."""
    return Method(row.methods[0]) if row.methods else None


def methods() -> Sequence[Method]:
    """The methods that draft, in their order."""
    return [method for method in Method if method is not Method.BASELINE]


@st.cache_resource(max_entries=8, show_spinner=False)
def _stored(_store: Store, run_id: str) -> Recording:
    run = _store.read(read_run, run_id)
    requests = _store.read(read_requests, run_id)
    if not requests or requests[0].fidelity is None:
        raise StoreError(f"The run {run_id} has no steps: choose another.")
    return Recording(run, requests[0].prompt, _store.read(read_trace, requests[0].request_id))
