"""Stored runs on the page: the list, and one opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.digits import digits
from specviz.config import Run
from specviz.paths import PROJECT_ROOT
from specviz.store import RunRow, Store
from specviz.views import run_sections
from specviz.views.opened_run import OpenedArm, opened_arms
from specviz.views.run_tree import draft_of_a_step
from specviz.views.token_strip import token_strip

PAGE_SIZE = 50
NOT_LOSSLESS = (
    "typical acceptance takes what is plausible enough for the target, so above temperature 0 the "
    "output does not follow the target's distribution. Compare its figures with that in mind."
)
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
    arms = opened_arms(store, runs)
    prompt = arms[0].request.prompt
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(" against ".join(_unbroken(arm.name) for arm in arms), width="content")
        st.space("stretch")
        st.page_link(_RUN_PAGE, label="All runs", icon=":material/arrow_back:")
    st.caption(
        f"{runs[0].started_at:%d %B %Y, %H:%M:%S} UTC · {prompt.category or 'typed'} · "
        + " · ".join(sorted({run.status.value for run in runs}))
    )
    st.code(prompt.text, language=None, wrap_lines=True)
    token_strip(source, mode="replay", key=f"strip-{source}")
    _sections(arms)


def _unbroken(name: str) -> str:
    """A name that keeps to one line where the heading takes two."""
    return name.replace(" ", "\N{NO-BREAK SPACE}")


def _sections(arms: Sequence[OpenedArm]) -> None:
    """One section at a time: hidden ones would be computed too."""
    sections: dict[str, Callable[[Sequence[OpenedArm]], None]] = {
        "Figures": _figures_section,
        "Draft tree": draft_of_a_step,
        "Time line": run_sections.time_line,
        "Acceptance by position": run_sections.acceptance,
    }
    if any(run_sections.skipped_grid(arm) for arm in arms):
        sections["Skipped layers"] = run_sections.skipped
    sections["Extra memory"] = run_sections.memory
    sections["Configuration"] = _configuration_section
    chosen = st.segmented_control(
        "Section", [*sections], default="Figures", label_visibility="collapsed"
    )
    if chosen:
        sections[chosen](arms)


def _figures_section(arms: Sequence[OpenedArm]) -> None:
    st.dataframe(_figures(arms), hide_index=True, placeholder="–")
    for arm in arms:
        if not arm.config.is_lossless:
            st.warning(f"{arm.name}: {NOT_LOSSLESS}", icon=":material/warning:")


def _configuration_section(arms: Sequence[OpenedArm]) -> None:
    st.dataframe(
        _configuration(arms),
        height="content",
        placeholder="–",
        column_config={"_index": st.column_config.TextColumn(width=130)},
    )


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


def _figures(arms: Sequence[OpenedArm]) -> pd.DataFrame:
    lines = []
    for arm in arms:
        metrics = arm.request.metrics
        lines.append(
            {
                "arm": arm.name,
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


def _configuration(arms: Sequence[OpenedArm]) -> pd.DataFrame:
    columns = {}
    for arm in arms:
        config = arm.config
        columns[arm.name] = {
            "run": arm.run.run_id,
            "engine": config.engine.value,
            "version": config.server_version,
            "server": config.server_url,
            "model": config.model,
            "draft": config.draft,
            "method": config.method and config.method.value,
            "K": config.k,
            "options": ", ".join(f"{name} {value}" for name, value in config.options.items()),
            "lossless": "yes" if config.is_lossless else "no: typical acceptance",
            "temperature": config.sampling.temperature,
            "top-p": config.sampling.top_p,
            "longest answer": config.sampling.max_tokens,
            "seed": config.sampling.seed,
            "traced": config.traced,
            "hardware": config.hardware,
            "git revision": config.git_revision,
        }
    return pd.DataFrame(columns).astype("string")
