"""A stored run, or the arms that were started together, opened on the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from specviz.analysis.text import digits, terminal_text
from specviz.config import Run
from specviz.store import Store
from specviz.store.history.about import About, read_about
from specviz.store.runs.runs import RequestTitle
from specviz.views.runs import sections as run_sections
from specviz.views.runs import state
from specviz.views.runs.about import heading
from specviz.views.runs.draft_tree import draft_of_a_step
from specviz.views.runs.environment import show_environment
from specviz.views.runs.opened import OpenedArm, opened_arms, titles_of
from specviz.views.runs.step_time import show_step_time
from specviz.views.shared.sections import chosen_section
from specviz.views.shared.text import escaped
from specviz.views.shared.token_strip import OpenedStep, token_strip

LISTED = 500
"""Requests that are chosen from a list; of more, by their number."""

TYPICAL = (
    "typical acceptance takes what is plausible enough for the target, so above temperature 0 the "
    "output does not follow the target's distribution. Compare its figures with that in mind."
)
LOSSY = (
    "by the server's acceptance rule the output does not follow the target's distribution. Compare "
    "its figures with that in mind."
)


def show_runs(store: Store, runs: Sequence[Run], *, source: str) -> None:
    """One run, or the arms that were started together: replay, figures, configuration."""
    state.opened()
    place = state.place()
    arms = opened_arms(store, runs, place)
    known = store.read(read_about, [run.run_id for run in runs])
    abouts = [known[run.run_id] for run in runs]
    heading(store, arms, abouts)
    _choose_request(store, arms)
    st.code(arms[0].request.prompt.text, language=None, wrap_lines=True)
    opened = _replay(arms, f"{source}/{place}" if place else source)
    if opened is not None:
        state.follow(opened)
    _sections(arms, abouts)


def _choose_request(store: Store, arms: Sequence[OpenedArm]) -> None:
    """Which request is shown, where there are several."""
    several = min(arm.num_requests for arm in arms)
    if several < 2:
        return
    key = f"run_request_{arms[0].run.run_id}"
    label = f"Request, of {several:,}"
    options: dict[str, Any] = {"key": key, "on_change": state.choose_request, "args": (key,)}
    if several > LISTED:
        st.number_input(label, 1, several, state.place() + 1, **options)
        return
    titles = titles_of(store, arms[0].run)
    st.selectbox(
        label,
        range(1, several + 1),
        index=state.place(),
        format_func=lambda number: _request_title(number, titles[number - 1]),
        **options,
    )


def _request_title(number: int, title: RequestTitle) -> str:
    start = terminal_text(title.prompt_start)
    return f"{number:,} · {start} · {title.category or 'typed'} · {title.status}"


def _replay(arms: Sequence[OpenedArm], source: str) -> OpenedStep | None:
    """The strips; requests of a benchmark have no steps to show."""
    if all(arm.is_only_timed for arm in arms):
        st.info(
            "A benchmark times its requests without tracing them: there are totals but no steps to "
            "replay. *Run this again* shows this one step by step; acceptance by position is "
            "with the benchmark.",
            icon=":material/timer:",
        )
        return None
    return token_strip(source, mode="replay", key=f"strip-{source}")


def _sections(arms: Sequence[OpenedArm], abouts: Sequence[About]) -> None:
    """One section at a time: hidden ones would be computed too."""
    sections: dict[str, Callable[[Sequence[OpenedArm]], None]] = {"Figures": _figures_section}
    if not all(arm.is_only_timed for arm in arms):
        sections |= {
            "Where the time goes": show_step_time,
            "Draft tree": draft_of_a_step,
            "Time line": run_sections.time_line,
            "Acceptance by position": run_sections.acceptance,
        }
    if any(run_sections.skipped_grid(arm) for arm in arms):
        sections["Skipped layers"] = run_sections.skipped
    sections["Extra memory"] = run_sections.memory
    sections["Configuration"] = _configuration_section
    sections["Environment"] = partial(show_environment, abouts=abouts)
    sections[chosen_section(state.SECTION, [*sections])](arms)


def _figures_section(arms: Sequence[OpenedArm]) -> None:
    st.dataframe(_figures(arms), hide_index=True, placeholder="–")
    for arm in arms:
        if not arm.config.is_lossless:
            why = TYPICAL if arm.config.acceptance == "typical" else LOSSY
            st.warning(escaped(f"{arm.name}: {why}"), icon=":material/warning:")


def _configuration_section(arms: Sequence[OpenedArm]) -> None:
    st.dataframe(
        _configuration(arms),
        height="content",
        placeholder="–",
        column_config={"_index": st.column_config.TextColumn(width=130)},
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
                "tok/s": metrics and digits(metrics.output_throughput),
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
            "lossless": "yes" if config.is_lossless else f"no: {config.acceptance} acceptance",
            "temperature": config.sampling.temperature,
            "top-p": config.sampling.top_p,
            "top-k": config.sampling.top_k or "off",
            "K asked for": config.sampling.spec_k,
            "longest answer": config.sampling.max_tokens,
            "seed": config.sampling.seed,
            "traced": config.traced,
            "hardware": config.hardware,
            "git revision": config.git_revision,
        }
    return pd.DataFrame(columns).astype("string")
