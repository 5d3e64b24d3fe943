"""Results that another tool measured, opened: its figures as it wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from specviz.analysis.text import digits, terminal_text
from specviz.store import Store
from specviz.store.history.drafts import read_logged_steps, replayed
from specviz.store.history.line import Item, Kind
from specviz.store.history.tool_result import (
    MOST_REQUESTS,
    read_stepped,
    read_tool_requests,
    read_tool_result,
)
from specviz.views.runs import edit as runs_edit
from specviz.views.runs import state
from specviz.views.shared.exchange import export_control
from specviz.views.shared.pages import RUNS, link_back
from specviz.views.shared.sections import chosen_section
from specviz.views.shared.tables import show_figures
from specviz.views.shared.text import escaped
from specviz.views.shared.token_strip import token_strip

Row = Mapping[str, Any]

QUANTITIES = {"TTFT ms": "ttft", "TPOT ms": "tpot", "E2E ms": "e2el"}
STATISTICS = ("mean", "p50", "p95", "p99")
_TEXTS = ("sequence", "output_text", "error")
MOST_STEPS = 1000
SECTIONS = ("Figures", "Requests", "Steps", "File")


def show_elsewhere(store: Store, elsewhere_id: str) -> None:
    """One import: what it is, its figures, its requests. Raises StoreError."""
    state.opened()
    row = store.read(read_tool_result, elsewhere_id)
    _heading(store, row)
    chosen = chosen_section(state.SECTION, SECTIONS)
    if chosen == "Requests":
        _requests(store, elsewhere_id)
    elif chosen == "Steps":
        _steps(store, elsewhere_id)
    elif chosen == "File":
        st.code(json.dumps(json.loads(row["document"]), indent=2, ensure_ascii=False), "json")
    else:
        _figures(row)


def totals(row: Row) -> pd.DataFrame:
    """One line per figure that the file has, with its unit."""
    values = {
        "requests finished": _whole(row["num_requests"]),
        "requests failed": _whole(row["num_failed"]),
        "concurrency at most": _whole(row["concurrency"]),
        "requests asked for per second": digits(row["request_rate"]),
        "time of the measurement, s": digits(row["duration_s"]),
        "prompt tokens": _whole(row["prompt_tokens"]),
        "output tokens": _whole(row["output_tokens"]),
        "requests per second": digits(row["request_throughput"]),
        "output tok/s of all streams": digits(row["output_throughput"]),
        "drafting steps": _whole(row["num_drafts"]),
        "draft tokens": _whole(row["num_draft_tokens"]),
        "accepted tokens": _whole(row["num_accepted_tokens"]),
        "acceptance rate": digits(row["draft_acceptance_rate"]),
        "mean acceptance length, tok per drafting step": digits(row["mean_acceptance_length"]),
        "acceptance by position": ", ".join(
            digits(rate) or "–" for rate in row["acceptance_rate_per_pos"] or ()
        ),
    }
    lines = [{"figure": name, "value": value} for name, value in values.items() if value]
    return pd.DataFrame(lines, columns=["figure", "value"])


def latencies(row: Row) -> pd.DataFrame:
    """Mean and percentiles; a quantity without any is left out."""
    lines = [
        {"": name, **{one: digits(row[f"{key}_{one}_ms"]) for one in STATISTICS}}
        for name, key in QUANTITIES.items()
        if any(row[f"{key}_{one}_ms"] is not None for one in STATISTICS)
    ]
    return pd.DataFrame(lines, columns=["", *STATISTICS])


def _heading(store: Store, row: Row) -> None:
    item = Item(Kind.TOOL_RESULT, row["elsewhere_id"])
    if row["deleted_at"]:
        runs_edit.deleted_banner(store, [item], row["deleted_at"])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(escaped(terminal_text(row["name"])), width="content")
        st.badge("measured elsewhere", icon=":material/public:", color="orange")
        for text in row["tags"] or ():
            st.badge(escaped(terminal_text(text)), icon=":material/sell:", color="gray")
        st.space("stretch")
        link_back(RUNS, "All runs")
    st.text(" · ".join(facts(row)))
    if row["note"]:
        st.text(runs_edit.spelled_note(row["note"]))
    with st.container(horizontal=True):
        subject = runs_edit.Subject(item, row["name"], row["note"], tuple(row["tags"] or ()))
        if st.button("Edit", icon=":material/edit:", key="run_edit"):
            runs_edit.edit_all(store, [subject])
        st.button(
            "Delete",
            icon=":material/delete:",
            key="run_delete",
            disabled=bool(row["deleted_at"]),
            on_click=runs_edit.delete,
            args=(store, (item,)),
        )
        with st.popover("Export", icon=":material/output:", key="run_export"):
            export_control(store, [item.item_id])


def facts(row: Row) -> list[str]:
    """Who measured what, where: from the file and the person who imported it."""
    started = row["started_at"]
    named = ("model", "server", "dataset")
    found = [
        f"{row['tool']}, {terminal_text(row['file_name'])}",
        f"measured {started:%d %B %Y, %H:%M} UTC" if started else "measured: the file says no time",
        f"imported {row['imported_at']:%d %B %Y, %H:%M} UTC",
        *(f"{name} {terminal_text(row[name])}" for name in named if row[name]),
        terminal_text(row["method"]) if row["method"] else "method unknown",
        f"K {row['k']}" if row["k"] else "",
    ]
    return [text for text in found if text]


def _figures(row: Row) -> None:
    st.caption(
        f"As {escaped(row['tool'])} reported them, not measured by specviz. Blank: not reported."
    )
    left, right = st.columns(2, gap="large")
    with left:
        show_figures(totals(row), words=("figure",))
    with right:
        times = latencies(row)
        if times.empty:
            st.info("The file has no latencies.", icon=":material/info:")
        else:
            show_figures(times, words=("",))


def _requests(store: Store, elsewhere_id: str) -> None:
    rows: Sequence[Row] = store.read(read_tool_requests, elsewhere_id)
    if not rows:
        st.info("The file has no single requests: it was saved without details.")
        return
    if len(rows) == MOST_REQUESTS:
        st.caption(f"The first {MOST_REQUESTS:,}.")
    table = pd.DataFrame([{**row, **{name: _cell(row[name]) for name in _TEXTS}} for row in rows])
    names = {
        "request_index": "request",
        "started_s": "sent, s",
        "num_drafts": "drafting steps",
        "num_draft_tokens": "draft tokens",
        "num_accepted_tokens": "accepted",
        "output_text": "answer",
    }
    shown = table.dropna(axis="columns", how="all").rename(columns=names)
    st.dataframe(shown, hide_index=True, placeholder="–")


def _steps(store: Store, elsewhere_id: str) -> None:
    """The steps of one request: as a strip where the file names all tokens, else as a table."""
    stepped = dict(store.read(read_stepped, elsewhere_id))
    if not stepped:
        st.info("The file has no single steps.")
        return
    place = st.selectbox(
        "Request",
        [*stepped],
        format_func=lambda place: _cell(stepped[place]) or f"request {place + 1:,}",
        key=f"elsewhere_request_{elsewhere_id}",
    )
    steps = store.read(read_logged_steps, elsewhere_id, place)
    if replayed(steps) is not None:
        st.caption("The file has token ids and no text: a token is shown as its id in brackets.")
        source = f"/ws/logged/{elsewhere_id}/{place}"
        token_strip(source, mode="replay", key=f"strip-{source}")
        return
    if len(steps) > MOST_STEPS:
        st.caption(f"The first {MOST_STEPS:,} of {len(steps):,} steps.")
    table = pd.DataFrame([step_line(step) for step in steps[:MOST_STEPS]])
    st.dataframe(table.dropna(axis="columns", how="all"), hide_index=True, placeholder="–")
    st.caption(
        "The file does not have the target's own token of each step, so no text can be put "
        "together from it."
    )


def step_line(step: Row) -> dict[str, object]:
    """A drafting step as a line; drafted tokens by their ids, with the draft's probability."""
    ids = step["draft_token_ids"]
    probs = step["draft_probs"] or [None] * len(ids or ())
    return {
        "step": step["step_index"],
        "draft tokens": step["num_draft_tokens"],
        "accepted": step["num_accepted_tokens"],
        "drafted ids (the draft's probability)": None
        if ids is None
        else ", ".join(
            f"{token_id}" if prob is None else f"{token_id} ({prob:.3f})"
            for token_id, prob in zip(ids, probs, strict=True)
        ),
    }


def _cell(text: str | None) -> str | None:
    return terminal_text(text) if text else None


def _whole(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"
