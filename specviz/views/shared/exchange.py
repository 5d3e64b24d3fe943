"""Runs out of the store and back in: a download in a chosen format, an upload with its result."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from specviz.analysis.sizes import size_text
from specviz.config import MAX_K
from specviz.errors import SpecvizError
from specviz.methods import Method
from specviz.store import Store
from specviz.store.exchange import Format, Imported, ImportLabels, import_file
from specviz.views.benchmark.plan_text import as_text
from specviz.views.shared.export_file import ExportFile

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
NOT_TOLD = "not told"


def export_control(store: Store, ids: Sequence[str], *, key: str = "export") -> None:
    """Choose a format, prepare the file, download it. `ids`: runs, groups, benchmarks, results.

    Ids may change from rerun to rerun; what was prepared for others is not offered. `key` tells two
    controls of one page apart.
    """
    with st.container(key=key):
        kind = st.selectbox(
            "Format", list(FORMATS), format_func=FORMATS.__getitem__, key=f"{key}-format"
        )
        if st.button(
            "Prepare the file", key=f"{key}-prepare", disabled=not ids, icon=":material/output:"
        ):
            st.session_state[f"{key}-file"] = prepared = ExportFile(store, ids, kind)
            prepared.wait(SOON_S)
        file = st.session_state.get(f"{key}-file")
        if isinstance(file, ExportFile) and file.kind == kind and file.ids == tuple(ids):
            _shown(file, key)


def import_control(store: Store) -> list[Imported]:
    """Take files in, say what became of each. Returns what was imported in this rerun."""
    with st.form("import", border=False, clear_on_submit=True):
        uploads = st.file_uploader(
            "Exports of specviz (Parquet or JSONL), results of vllm bench serve or GuideLLM (JSON)",
            accept_multiple_files=True,
            max_upload_size=UPLOAD_MB,
            key="import-files",
        )
        told = _told_by_person()
        if not st.form_submit_button("Import", icon=":material/input:"):
            _outcomes(st.session_state.get("import-outcomes", []))
            return []
    outcomes = [_imported(store, upload, told) for upload in uploads or []]
    st.session_state["import-outcomes"] = outcomes
    _outcomes(outcomes)
    return [outcome for outcome in outcomes if isinstance(outcome, Imported)]


def _shown(file: ExportFile, key: str) -> None:
    if file.is_running:
        st.fragment(_waiting, run_every=POLL_S)(file)
        return
    if file.error is not None or file.done is None:
        st.error(as_text(file.error or "The file could not be prepared."))
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
    told = [] if file.kind is Format.HTML else [f"{rows:,} rows of {len(file.done.rows)} tables."]
    st.caption(as_text(" ".join([*told, *file.done.left_out]) or "Nothing was left out."))


def _waiting(file: ExportFile) -> None:
    if file.is_running:
        st.caption("Preparing the file …")
    else:
        st.rerun()


def _told_by_person() -> dict[str, Any]:
    with st.expander("Results of another tool: what their files do not tell"):
        left, middle, right = st.columns(3)
        methods = [NOT_TOLD, *(method.value for method in Method)]
        return {
            "method": left.selectbox("Method", methods, key="import-method"),
            "k": middle.number_input(
                "K", min_value=1, max_value=MAX_K, value=None, key="import-k", placeholder=NOT_TOLD
            ),
            "name": right.text_input("Name", key="import-name", placeholder="as the file tells"),
        }


def _imported(store: Store, upload: Any, told: dict[str, Any]) -> Imported | str:
    """What became of an upload, or why it was refused."""
    try:
        method = None if told["method"] == NOT_TOLD else Method(told["method"])
        k = None if told["k"] is None else int(told["k"])
        with tempfile.TemporaryDirectory(prefix="specviz-upload-") as folder:
            path = Path(folder) / "upload"
            path.write_bytes(upload.getbuffer())
            person = ImportLabels(method, k, told["name"].strip() or None)
            return import_file(store, path, person, name=upload.name)
    except SpecvizError as error:
        return str(error)


def _outcomes(outcomes: Sequence[Imported | str]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, str):
            st.error(as_text(outcome))
            continue
        told = " ".join([outcome.sentence, *outcome.notes])
        (st.success if outcome.stored else st.info)(as_text(told))
