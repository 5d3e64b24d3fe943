"""The button that redrafts the largest K exactly, and how far that is."""

from __future__ import annotations

import streamlit as st

from specviz.bench.plan.toml import parse_plan
from specviz.engines.redraft import redraftable
from specviz.errors import UsageError
from specviz.runtime import current
from specviz.views.k.chosen import Chosen
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped

REFRESH_S = 1.0


def redraft_this(chosen: Chosen) -> None:
    """Start a redraft, follow it, or say why there is none."""
    benchmark_id, arm = chosen.opened.row.benchmark_id, chosen.largest
    if (refusal := chosen.opened.store.refusal) is not None:
        st.caption(escaped(refusal))
        return
    progress = current().redrafts.progress(benchmark_id, arm)
    if progress is not None and not progress.ended:
        _follow(benchmark_id, arm)
        return
    config = parse_plan(chosen.opened.row.plan_toml).arms[arm].config
    try:
        redraftable(config)
    except UsageError as error:
        st.caption(escaped(f"No exact redraft: {error}"))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button("Redraft exactly", icon=":material/replay:")
        st.caption(
            f"Drafts K {config.k} after every token of the stored answers on the embedded engine: "
            "what every smaller K would have done, without asking again. Takes about as long as "
            "the answers did."
        )
    if progress is not None and progress.error:
        show_error(progress.error)
    if pressed:
        try:
            current().redrafts.start(benchmark_id, arm)
        except UsageError as error:
            show_error(error)
        else:
            st.rerun()


@st.fragment(run_every=REFRESH_S)
def _follow(benchmark_id: str, arm: int) -> None:
    progress = current().redrafts.progress(benchmark_id, arm)
    if progress is None or progress.ended:
        st.rerun()
    assert progress is not None
    share = progress.done / progress.planned if progress.planned else 0.0
    line, button = st.columns([5, 1], vertical_alignment="bottom")
    line.progress(share, text=_line(progress.done, progress.planned))
    if button.button("Stop", icon=":material/stop:", key="k_redraft_stop"):
        current().redrafts.stop()


def _line(done: int, planned: int) -> str:
    if not planned:
        return "Waiting for its turn, loading the models"
    return f"{done} of {planned} answers" if done < planned else "Timing steps side by side"
