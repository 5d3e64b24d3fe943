"""The documents' published figures, in separate tables with their source."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from specviz.reference import published
from specviz.views.shared.text import escaped

ENVIRONMENT = "4 × A100 80 GB, Llama 3.1 70B Instruct, vLLM 0.7.3, tensor parallel 4"

_ABOUT = ("document", "section", "definition", "method")
_NAMES = {
    "e2e_speedup": "E2E speed-up ×",
    "speedup": "speed-up ×",
    "accept_ratio": "accept ratio",
    "num_speculative_tokens": "K",
    "mean_accepted_length": "mean accepted length, no bonus",
    "requests_per_hour": "requests/h",
    "cost_per_request_usd": "$ per request",
    "cost_reduction_percent": "cost reduction %",
    "training_cost_usd": "one training $",
    "training_hours": "training hours",
    "throughput_tok_s": "throughput tok/s",
    "tpot_p50_ms": "TPOT P50 ms",
    "tpot_p95_ms": "TPOT P95 ms",
    "extra_gpu_memory_gb": "extra GPU memory GB",
}


def published_figures(table: str) -> None:
    """One published table, labelled as such, with how its definitions differ from ours."""
    figures = published(table)
    with st.container(border=True):
        st.markdown("**Published in the documents, not measured here**")
        st.caption(f"{ENVIRONMENT}. Another machine and model: not comparable line by line.")
        st.dataframe(shown(figures), hide_index=True, placeholder="–", height="content")
        st.caption(escaped(" · ".join(sources(figures))))
        if theirs := definitions(figures):
            st.caption("Their definitions: " + escaped("; ".join(theirs) + "."))


def shown(figures: pd.DataFrame) -> pd.DataFrame:
    """The figures under readable names, without the columns shown once below the table."""
    columns = [name for name in figures.columns if name not in _ABOUT]
    as_printed = figures[columns].apply(_as_printed)
    return as_printed.rename(columns=lambda name: _NAMES.get(name, name.replace("_", " ")))


def sources(figures: pd.DataFrame) -> list[str]:
    """`document: section`, each once."""
    pairs = figures[["document", "section"]].dropna().drop_duplicates()
    return [f"{document}: {section}" for document, section in pairs.itertuples(index=False)]


def definitions(figures: pd.DataFrame) -> list[str]:
    """How their quantities are defined, each sentence once."""
    if "definition" not in figures:
        return []
    parts = (part.strip() for text in figures["definition"].dropna() for part in text.split(";"))
    return list(dict.fromkeys(part for part in parts if part))


def _as_printed(column: pd.Series) -> pd.Series:
    """Numbers with the digits that the document gives, as text; empty words as missing."""
    if not pd.api.types.is_numeric_dtype(column):
        return column.where(column != "", None)
    places = max((_decimals(value) for value in column.dropna()), default=0)
    return column.map(lambda value: None if pd.isna(value) else f"{value:,.{places}f}")


def _decimals(value: float) -> int:
    """Digits after the point: 2 of 0.81, 0 of 3200.0."""
    return len(f"{value:.10f}".rstrip("0").partition(".")[2])
