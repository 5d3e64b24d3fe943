"""A running benchmark: progress, time left, state of its arms."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from specviz.analysis.text import digits
from specviz.bench.progress import ArmProgress, BenchPhase, Progress
from specviz.runtime import current
from specviz.views.shared.benchmark.plan_text import progress_line, share_done

REFRESH_S = 1.0


@st.fragment(run_every=REFRESH_S)
def live_progress(benchmark_id: str) -> None:
    """The bar, the arms and the buttons; the page reruns once when the benchmark ends."""
    progress = current().benchmarks.progress(benchmark_id)
    if progress is None or progress.phase.is_final:
        st.rerun()
    assert progress is not None
    line, buttons = st.columns([3, 2], vertical_alignment="bottom")
    with line:
        st.progress(share_done(progress.done, progress.planned), text=progress_line(progress))
    with buttons.container(horizontal=True, horizontal_alignment="right"):
        _buttons(progress)
    st.text(progress.doing or "…")
    st.dataframe(
        arms_so_far(progress.arms),
        hide_index=True,
        placeholder="–",
        height="content",
        column_config={"arm": st.column_config.TextColumn(width="medium")},
    )
    st.caption(
        "Figures so far: all requests of the arm, whatever their load. The benchmark continues "
        "whichever page is open."
    )


def arms_so_far(arms: tuple[ArmProgress, ...]) -> pd.DataFrame:
    """One line per arm."""
    return pd.DataFrame(
        {
            "arm": arm.arm,
            "phase": arm.phase,
            "done": f"{arm.done:,} of {arm.planned:,}",
            "failed": f"{arm.failed:,}" if arm.failed else None,
            "TPOT ms": digits(arm.tpot_ms),
            "tok/s": digits(arm.output_throughput),
            "acceptance rate": digits(arm.draft_acceptance_rate),
            "note": arm.note,
        }
        for arm in arms
    )


def _buttons(progress: Progress) -> None:
    board, benchmark_id = current().benchmarks, progress.benchmark_id
    paused = progress.phase is BenchPhase.PAUSED
    # one button under one key: a second one in its place would lose clicks while it is drawn
    st.button(
        "Continue" if paused else "Pause",
        key="bench_pause",
        icon=":material/play_arrow:" if paused else ":material/pause:",
        on_click=board.unpause if paused else board.pause,
        args=(benchmark_id,),
        help="Finishes the requests in flight and waits; servers stay loaded.",
    )
    st.button(
        "Cancel",
        icon=":material/stop:",
        on_click=board.cancel,
        args=(benchmark_id,),
        help="What is measured is kept, and the rest can be resumed.",
    )
