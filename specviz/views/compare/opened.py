"""What the sections of the Compare page are given, read once while it does not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from specviz.analysis.arm_names import distinguished
from specviz.analysis.benchmark.disturbance import disturbance_of
from specviz.analysis.benchmark.results import load_text
from specviz.analysis.text import shortened, terminal_text
from specviz.config import RunConfig
from specviz.palette import BASELINE, FAMILY_COLOURS
from specviz.store import Store
from specviz.store.history.comparison import (
    AnswerRow,
    ComparedRun,
    ComparedToolResult,
    read_answers,
    read_blocks,
    read_compared,
    read_compared_requests,
    read_compared_results,
)
from specviz.store.runs.runs import read_trace
from specviz.trace import Trace

KEPT = 8
NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class Arm:
    """One compared arm: its name and colour on the page; `row` has its kind."""

    key: str
    name: str
    colour: str
    row: ComparedRun | ComparedToolResult


@dataclass(frozen=True, slots=True)
class RunArm:
    """A run among the compared, with its requests (see `read_compared_requests`)."""

    key: str
    name: str
    colour: str
    row: ComparedRun
    requests: pd.DataFrame

    @property
    def config(self) -> RunConfig:
        return self.row.run.config

    @property
    def finished(self) -> pd.DataFrame:
        return self.requests[self.requests["status"] == "finished"]


@dataclass(frozen=True, slots=True)
class Compared:
    """The requested arms that were found, the reference first, and a sentence on the rest."""

    arms: tuple[Arm, ...]
    notices: tuple[str, ...]
    store: Store

    def runs(self) -> list[RunArm]:
        """Those that specviz recorded. Raises StoreError."""
        found = [arm for arm in self.arms if isinstance(arm.row, ComparedRun)]
        if not found:
            return []
        rows = [arm.row for arm in found if isinstance(arm.row, ComparedRun)]
        state = tuple((row.run.run_id, row.requests, row.run.status.value) for row in rows)
        requests = _requests(self.store, state)
        return [
            RunArm(arm.key, arm.name, arm.colour, row, requests[requests["run_id"] == arm.key])
            for arm, row in zip(found, rows, strict=True)
        ]

    def disturbance(self) -> str | None:
        """That something else used the machine during arms of benchmarks. Raises StoreError."""
        ids = [arm.key for arm in self.arms]
        found = disturbance_of(self.store.read(read_blocks, ids))
        return None if found is None else found.text

    def elsewhere(self) -> list[tuple[Arm, ComparedToolResult]]:
        """Those that another tool measured."""
        return [(arm, arm.row) for arm in self.arms if isinstance(arm.row, ComparedToolResult)]


def open_compared(store: Store, ids: Sequence[str]) -> Compared:
    """Raises StoreError."""
    runs = {row.run.run_id: row for row in store.read(read_compared, ids)}
    others = store.read(read_compared_results, ids)
    found: dict[str, ComparedRun | ComparedToolResult] = {
        **runs,
        **{row.elsewhere_id: row for row in others},
    }
    shown = [key for key in ids if key in found and found[key].deleted_at is None]
    notices = [_why_not(key, found.get(key)) for key in ids if key not in shown]
    rows = [found[key] for key in shown]
    names = distinguished([_title(row) for row in rows], [_details(row) for row in rows])
    arms = tuple(
        Arm(key, name, colour, row)
        for key, name, colour, row in zip(
            shown, names, (BASELINE, *FAMILY_COLOURS * (len(shown) // 8 + 1)), rows, strict=False
        )
    )
    return Compared(arms, tuple(notices), store)


def answers(store: Store, request_ids: tuple[str, ...]) -> list[AnswerRow]:
    """The texts of requests that have ended. Raises StoreError."""
    return _answers(store, request_ids)


def trace_of(store: Store, request_id: str) -> Trace:
    """A request that has ended, step by step. Raises StoreError."""
    return _trace(store, request_id)


def one_line(text: str, most: int = NAME_CHARS) -> str:
    """What people, models and files wrote, on one line, with invisible signs spelled out."""
    return terminal_text(shortened(" ".join(text.split()), most))


def _title(row: ComparedRun | ComparedToolResult) -> str:
    if isinstance(row, ComparedToolResult):
        return one_line(row.name)
    return one_line(row.name or row.arm or row.run.config.title)


def _details(row: ComparedRun | ComparedToolResult) -> tuple[str, ...]:
    """What distinguishes equal titles, the most useful first."""
    if isinstance(row, ComparedToolResult):
        return (row.tool, "", "", "", "")
    config = row.run.config
    return (
        f"temperature {config.sampling.temperature:g}",
        load_text(config.concurrency or None, config.request_rate)
        if config.concurrency or config.request_rate
        else "",
        config.engine.value,
        one_line(row.benchmark or ""),
        f"{row.run.started_at:%d %b %H:%M}",
    )


def _why_not(key: str, row: ComparedRun | ComparedToolResult | None) -> str:
    if row is None:
        return f"There is no run {one_line(key)} in the database."
    kind = "results" if isinstance(row, ComparedToolResult) else "run"
    return (
        f"{_title(row)} ({kind} {one_line(key)}) was deleted: undo that on its own page to compare "
        "it again."
    )


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the requests")
def _requests(_store: Store, runs: tuple[tuple[str, int, str], ...]) -> pd.DataFrame:
    """As long as no request ends, they stay as they are."""
    ids = [run_id for run_id, *_ in runs]
    return _store.read(read_compared_requests, ids)


@st.cache_resource(max_entries=4 * KEPT, show_spinner=False)
def _answers(_store: Store, request_ids: tuple[str, ...]) -> list[AnswerRow]:
    return _store.read(read_answers, request_ids)


@st.cache_resource(max_entries=2 * KEPT, show_spinner=False)
def _trace(_store: Store, request_id: str) -> Trace:
    return _store.read(read_trace, request_id)
