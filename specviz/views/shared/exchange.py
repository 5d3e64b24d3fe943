"""Runs out of the store and back in: a download in a chosen format, an upload with its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from specviz.analysis.text import size_text
from specviz.bench.results import ResultsOf, work_out
from specviz.config import MAX_K
from specviz.errors import SpecvizError
from specviz.methods import Method
from specviz.store import Store
from specviz.store.exchange import Format, Imported, ImportLabels, import_file
from specviz.store.file.work_folder import work_folder
from specviz.views.shared.export_file import ExportFile
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped

FORMATS = {
    Format.HTML: "HTML: one file to attach to a ticket, with the replay",
    Format.PARQUET: "Parquet: everything, to import again or to analyse",
    Format.JSONL: "JSONL: the trace event by event, to import again or to replay",
    Format.CSV: "CSV: tables for a spreadsheet",
}
POLL_S = 0.5
SOON_S = 0.3
"""A small export is there within the rerun of the click."""

UPLOAD_MB = 1024
NOT_GIVEN = "not given"


def export_control(
    store: Store, ids: Sequence[str], *, key: str = "export", results_of: ResultsOf = work_out
) -> None:
    """Choose a format, prepare the file, download it. `ids`: runs, groups, benchmarks, results.

    Ids may change from rerun to rerun; a file prepared for other ids is not offered. `key`
    distinguishes two controls of one page. `results_of` gives the results of a benchmark.
    """
    with st.container(key=key):
        kind = st.selectbox(
            "Format", list(FORMATS), format_func=FORMATS.__getitem__, key=f"{key}-format"
        )
        if st.button(
            "Prepare the file", key=f"{key}-prepare", disabled=not ids, icon=":material/output:"
        ):
            st.session_state[f"{key}-file"] = prepared = ExportFile(store, ids, kind, results_of)
            prepared.wait(SOON_S)
        file = st.session_state.get(f"{key}-file")
        if isinstance(file, ExportFile) and file.kind == kind and file.ids == tuple(ids):
            _shown(file, key)


def import_control(store: Store) -> list[Imported]:
    """Import files and report each outcome. Returns what was imported in this rerun."""
    with st.form("import", border=False, clear_on_submit=True):
        uploads = st.file_uploader(
            "Exports of specviz (Parquet or JSONL), or results of another tool: vllm bench serve, "
            "sglang.bench_serving, GuideLLM, AIPerf, SpecForge, llama.cpp's draft dump (JSON), "
            "specspecs (zip)",
            accept_multiple_files=True,
            max_upload_size=UPLOAD_MB,
            key="import-files",
        )
        by_person = _facts_from_person()
        if not st.form_submit_button("Import", icon=":material/input:"):
            _outcomes(st.session_state.get("import-outcomes", []))
            return []
    outcomes = [_imported(store, upload, by_person) for upload in uploads or []]
    st.session_state["import-outcomes"] = outcomes
    _outcomes(outcomes)
    return [outcome for outcome in outcomes if isinstance(outcome, Imported)]


def _shown(file: ExportFile, key: str) -> None:
    if file.is_running:
        st.fragment(_waiting, run_every=POLL_S)(file)
        return
    if file.error is not None or file.done is None:
        show_error(file.error or "The file could not be prepared.")
        return
    rows = sum(file.done.rows.values())
    st.download_button(
        f"Download {size_text(file.done.bytes)}",
        file.content,
        file_name=file.name,
        mime=file.mime,
        key=f"{key}-download",
        icon=":material/download:",
        on_click="ignore",
        type="primary",
    )
    parts = [] if file.kind is Format.HTML else [f"{rows:,} rows of {len(file.done.rows)} tables."]
    st.caption(escaped(" ".join([*parts, *file.done.left_out]) or "Nothing was left out."))


def _waiting(file: ExportFile) -> None:
    if file.is_running:
        st.caption("Preparing the file …")
    else:
        st.rerun()


def _facts_from_person() -> dict[str, Any]:
    with st.expander("Results of another tool: what their files do not contain"):
        left, middle, right = st.columns(3)
        methods = [NOT_GIVEN, *(method.value for method in Method)]
        return {
            "method": left.selectbox("Method", methods, key="import-method"),
            "k": middle.number_input(
                "K", min_value=1, max_value=MAX_K, value=None, key="import-k", placeholder=NOT_GIVEN
            ),
            "name": right.text_input("Name", key="import-name", placeholder="as in the file"),
        }


def _imported(store: Store, upload: Any, by_person: dict[str, Any]) -> Imported | str:
    """The outcome of an upload, or why it was refused."""
    try:
        method = None if by_person["method"] == NOT_GIVEN else Method(by_person["method"])
        k = None if by_person["k"] is None else int(by_person["k"])
        with work_folder() as folder:
            path = folder / "upload"
            path.write_bytes(upload.getbuffer())
            person = ImportLabels(method, k, by_person["name"].strip() or None)
            return import_file(store, path, person, name=upload.name)
    except SpecvizError as error:
        return str(error)


def _outcomes(outcomes: Sequence[Imported | str]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, str):
            show_error(outcome)
            continue
        sentences = " ".join([outcome.sentence, *outcome.notes])
        (st.success if outcome.stored else st.info)(escaped(sentences))
