"""Stored runs on the page: the list, and one opened."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.digits import digits
from specviz.config import Run
from specviz.figures.acceptance import acceptance_by_position
from specviz.paths import PROJECT_ROOT
from specviz.store import RequestRow, RunRow, Store
from specviz.views.token_strip import token_strip

PAGE_SIZE = 50
_LIVE_PAGE = PROJECT_ROOT / "pages" / "live.py"
_RUN_PAGE = PROJECT_ROOT / "pages" / "run.py"


def list_runs(store: Store) -> None:
    """The newest runs; selecting one opens it."""
    total = store.count_runs()
    if total == 0:
        st.markdown("#### No runs yet")
        st.markdown("Every run on the Live page and every `specviz run` is kept here.")
        st.page_link(
            PROJECT_ROOT / "pages" / "live.py", label="Go to Live", icon=":material/play_circle:"
        )
        return
    rows = store.recent_runs(limit=PAGE_SIZE)
    st.subheader("Runs")
    st.caption(f"The newest {len(rows)} of {total:,}. Select one to open it.")
    selection = st.dataframe(
        _table(rows),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        height="content",
        placeholder="–",
        column_config={
            "started": st.column_config.DatetimeColumn("started", format="D MMM, HH:mm:ss"),
            "acceptance": st.column_config.NumberColumn("acceptance", format="%.3f"),
            "tok/step": st.column_config.NumberColumn("tok/step", format="%.2f"),
            "tok/s": st.column_config.NumberColumn("tok/s", format="%.1f"),
        },
    )
    if chosen := selection["selection"]["rows"]:
        st.query_params["run"] = rows[chosen[0]].run.run_id
        st.rerun()


def show_runs(store: Store, runs: Sequence[Run], *, source: str) -> None:
    """One run, or the arms that were started together: replay, figures, configuration."""
    requests = [store.requests_of(run.run_id)[0] for run in runs]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(" against ".join(run.config.title for run in runs), width="content")
        st.space("stretch")
        st.page_link(_RUN_PAGE, label="All runs", icon=":material/arrow_back:")
    st.caption(
        f"{runs[0].started_at:%d %B %Y, %H:%M:%S} UTC · {requests[0].prompt.category or 'typed'} · "
        + " · ".join(sorted({run.status.value for run in runs}))
    )
    st.code(requests[0].prompt.text, language=None, wrap_lines=True)
    token_strip(source, mode="replay", key=f"strip-{source}")
    section = st.segmented_control(
        "Section",
        ["Figures", "Acceptance by position", "Configuration"],
        default="Figures",
        label_visibility="collapsed",
    )
    if section == "Figures":
        st.dataframe(_figures(runs, requests), hide_index=True, placeholder="–")
    elif section == "Acceptance by position":
        _acceptance(runs, requests)
    elif section == "Configuration":
        st.dataframe(_configuration(runs), height="content", placeholder="–")


def _acceptance(runs: Sequence[Run], requests: Sequence[RequestRow]) -> None:
    rates = {
        run.config.title: request.metrics.acceptance_rate_per_pos
        for run, request in zip(runs, requests, strict=True)
        if request.metrics and request.metrics.acceptance_rate_per_pos
    }
    if not rates:
        st.info("No arm tells which of its drafts were accepted at which position.")
        return
    st.plotly_chart(acceptance_by_position(rates))
    table = pd.DataFrame(rates.items(), columns=["arm", "acceptance by position"])
    st.dataframe(table, hide_index=True)


def _table(rows: Sequence[RunRow]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "started": [row.run.started_at for row in rows],
            "arm": [row.run.config.title for row in rows],
            "prompt": [row.prompt_start for row in rows],
            "category": [row.category for row in rows],
            "status": [row.run.status.value for row in rows],
            "fidelity": [row.fidelity.value if row.fidelity else None for row in rows],
            "acceptance": [row.acceptance_rate for row in rows],
            "tok/step": [row.tokens_per_step for row in rows],
            "tok/s": [row.tokens_per_s for row in rows],
        }
    )


def _figures(runs: Sequence[Run], requests: Sequence[RequestRow]) -> pd.DataFrame:
    lines = []
    for run, request in zip(runs, requests, strict=True):
        metrics = request.metrics
        lines.append(
            {
                "arm": run.config.title,
                "output tokens": metrics and metrics.output_tokens,
                "steps": metrics and metrics.num_steps,
                "drafted": metrics and metrics.num_draft_tokens,
                "accepted": metrics and metrics.num_accepted_tokens,
                "acceptance rate": metrics and digits(metrics.draft_acceptance_rate),
                "alpha": metrics and digits(metrics.alpha),
                "mean acceptance length": metrics and digits(metrics.mean_acceptance_length),
                "tok/step": metrics and digits(metrics.tokens_per_step),
                "tok/s": metrics and digits(metrics.tokens_per_s),
                "TTFT ms": metrics and digits(metrics.ttft_ms),
                "TPOT ms": metrics and digits(metrics.tpot_ms),
                "E2E ms": metrics and digits(metrics.e2el_ms),
            }
        )
    return pd.DataFrame(lines)


def _configuration(runs: Sequence[Run]) -> pd.DataFrame:
    columns = {}
    for run in runs:
        config = run.config
        columns[config.title] = {
            "run": run.run_id,
            "engine": config.server_version or config.engine.value,
            "server": config.server_url,
            "model": config.model,
            "draft": config.draft,
            "method": config.method and config.method.value,
            "K": config.k,
            "temperature": config.sampling.temperature,
            "top-p": config.sampling.top_p,
            "longest answer": config.sampling.max_tokens,
            "seed": config.sampling.seed,
            "traced": config.traced,
            "hardware": config.hardware,
            "git revision": config.git_revision,
        }
    return pd.DataFrame(columns).astype("string")
