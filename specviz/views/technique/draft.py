"""The draft-model advisor: two folders, one check per thing that can go wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from specviz.analysis.advisor.deployment import Deployment, KnownFacts
from specviz.analysis.advisor.draft import Check, Load, Pair, check_pair, facts_of
from specviz.analysis.advisor.evidence import Evidence
from specviz.engines.model_folder import read_pair
from specviz.known_facts import acceptance_of_pair
from specviz.models.kept import kept
from specviz.paths import PROJECT_ROOT
from specviz.store import Store
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.shared.text import escaped
from specviz.views.technique import state
from specviz.views.technique.tables import checks_table


def advise(
    store: Store, rows: Sequence[BenchmarkRow], deployment: Deployment
) -> tuple[tuple[Check, ...], KnownFacts]:
    """The checks of the named pair, and what they answer in the tree."""
    target, draft = (str(state.value_of(name) or "") for name in (state.TARGET, state.DRAFT))
    folders = _path(target), _path(draft)
    pair = _pair(*folders, _stamp(*folders))
    given = deployment.answers.get("acceptance")
    marks = tuple((row.benchmark_id, row.finished) for row in rows)
    measured = _measured(store, *folders, marks) if given is None else None
    acceptance, source = (given, deployment.source("acceptance")) if given is not None else (
        measured or (None, None)
    )  # fmt: skip
    load = Load(
        int(state.value_of(state.CONTEXT) or state.defaults()[state.CONTEXT]),
        deployment.concurrency or 1,
        deployment.spare_memory_gb,
    )
    checks = check_pair(
        pair, load, None if acceptance is None else float(acceptance), source, deployment.text
    )
    return checks, facts_of(checks, pair) if state.names_a_pair() else KnownFacts({}, {})


def show_advice(checks: tuple[Check, ...]) -> None:
    """The fields and the table of checks."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, label in ((state.TARGET, "Target folder"), (state.DRAFT, "Draft folder")):
            st.text_input(label, key=state.key_of(name), width=340, persist_state="session")
        st.number_input(
            "Context, tokens per request",
            1,
            state.LONGEST_CONTEXT,
            step=1024,
            key=state.key_of(state.CONTEXT),
            width=200,
            persist_state="session",
        )
    st.caption(
        "Two Hugging Face folders on this machine: tokenizer.json file against file, config.json, "
        "safetensors headers. Memory: weights + 2 · layers · KV heads · head size · 2 bytes · "
        "tokens, for the concurrency above."
    )
    st.table(checks_table(checks).map(escaped), border="horizontal", hide_index=True)


@st.cache_data(max_entries=32, show_spinner=False)
def _measured(
    _store: Store, target: str, draft: str, stored: tuple[tuple[str, int], ...]
) -> tuple[float, Evidence] | None:
    """The cache key: searched again only when a benchmark is added or continues."""
    return acceptance_of_pair(_store, target, draft)


@st.cache_data(max_entries=32, show_spinner=False)
def _pair(target: str, draft: str, stamp: tuple[float, ...]) -> Pair:
    """As long as no file changes, the folders need not be read again."""
    return read_pair(target, draft)


def _stamp(*names: str) -> tuple[float, ...]:
    """When the newest file of each folder was written; 0 for what is no folder."""
    folders = [Path(name).expanduser() for name in names]
    return tuple(
        max((path.stat().st_mtime for path in folder.iterdir()), default=0.0)
        if folder.is_dir()
        else 0.0
        for folder in folders
    )


def _path(name: str) -> str:
    """Relative folders start at the project's; a model in the cache has its name alone."""
    if folder := kept(name):
        return str(folder)
    inside = PROJECT_ROOT / name
    return str(inside) if name and inside.is_dir() else name
