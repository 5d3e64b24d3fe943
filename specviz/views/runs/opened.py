"""What the sections of an opened run are given: its arms, with their traces on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from specviz.analysis.arm_names import arm_names
from specviz.config import EngineKind, Run, RunConfig, RunStatus
from specviz.store import RequestRow, Store
from specviz.store.runs.runs import (
    RequestTitle,
    count_requests,
    read_request,
    read_titles,
    read_trace,
)
from specviz.trace import Fidelity, Trace

KEPT_TRACES = 16


@dataclass(frozen=True, slots=True)
class OpenedArm:
    """One arm of the page: its name there, its run and one of its `num_requests` requests."""

    name: str
    run: Run
    request: RequestRow
    store: Store
    num_requests: int = 1

    @property
    def config(self) -> RunConfig:
        return self.run.config

    @property
    def judges_typically(self) -> bool:
        return self.config.judges_typically

    def trace(self) -> Trace | None:
        """Step by step; None if the engine never took the request. Raises StoreError."""
        if self.request.fidelity is None:
            return None
        if self.run.status is RunStatus.RUNNING:
            return self.store.read(read_trace, self.request.request_id)
        return _ended_trace(self.store, self.request.request_id)

    @property
    def is_only_timed(self) -> bool:
        """A benchmark's request: its figures are known, its steps are not."""
        metrics = self.request.metrics
        if metrics is None or not metrics.num_steps:
            return False
        trace = self.trace()
        return trace is not None and not trace.steps

    @property
    def why_no_drafts(self) -> str | None:
        """Why nothing can be said of single drafts; None if it can."""
        metrics = self.request.metrics
        if self.request.fidelity is None or metrics is None:
            return "nothing arrived"
        if self.request.fidelity is Fidelity.INFERRED:
            return "the server does not report its drafts"
        return None if metrics.num_drafts else "nothing was drafted"

    @property
    def why_blank(self) -> str:
        """Why what only the embedded engine reports is blank."""
        if self.config.engine is not EngineKind.EMBEDDED:
            return "not reported by the server"
        if self.request.metrics is None or self.request.finish_reason is None:
            return "the request did not finish"
        return "not recorded"


def opened_arms(store: Store, runs: Sequence[Run], place: int = 0) -> list[OpenedArm]:
    """The arms of runs that were started together, under distinct names, each with its
    request at a place, from 0. Raises StoreError where there is none yet."""
    names = arm_names([run.config for run in runs])
    return [_opened_arm(store, name, run, place) for name, run in zip(names, runs, strict=True)]


def titles_of(store: Store, run: Run) -> list[RequestTitle]:
    """The requests of a run, to choose one of them."""
    return store.read(read_titles, run.run_id)


def _opened_arm(store: Store, name: str, run: Run, place: int) -> OpenedArm:
    request = store.read(read_request, run.run_id, place)
    return OpenedArm(name, run, request, store, store.read(count_requests, run.run_id))


@st.cache_resource(max_entries=KEPT_TRACES, show_spinner=False)
def _ended_trace(_store: Store, request_id: str) -> Trace:
    """A request that has ended never changes, and the widgets of a section ask for it often."""
    return _store.read(read_trace, request_id)
