"""Where the time of a step goes, on Run, Compare and Benchmark: bars, sentences, figures."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.step_time.arms import ArmTime, explained, plain_ms, step_time_line
from specviz.analysis.step_time.bar import StepBar
from specviz.figures.step_time import step_time_bars
from specviz.views.shared.charts import ONLY_AS_FILE, page_ground
from specviz.views.shared.tables import show_figures
from specviz.views.shared.text import escaped

WORDS = (
    "Means over the steps after the first one, which reads the prompt. Everything else: what "
    "drafting and verification leave of the time from one step's tokens to the next's, such as "
    "scheduling, detokenization and sending."
)


def show_step_times(arms: Sequence[ArmTime], caption: str) -> None:
    """The mean step of each arm, and in a sentence why it is slower or faster."""
    plain = {arm.name: None if arm.is_plain else plain_ms(arm, arms) for arm in arms}
    bars = [StepBar(arm.name, arm.found, plain[arm.name]) for arm in arms if arm.found]
    show_bars(bars, "step-time")
    show_sentences([(arm.name, explained(arm, arms)) for arm in arms])
    if bars:
        show_lines(bars)
    st.caption(f"{WORDS} {caption}")


def show_bars(bars: Sequence[StepBar], key: str) -> None:
    """One stacked bar per arm whose steps are known; the table below has the same figures."""
    if bars:
        figure = step_time_bars(bars, page_ground())
        st.plotly_chart(figure, config=ONLY_AS_FILE, key=f"chart-{key}")


def show_sentences(sentences: Sequence[tuple[str, str]]) -> None:
    """Each arm's name and its sentence."""
    for name, text in sentences:
        st.markdown(f"**{escaped(name)}**: {escaped(text)}")


def show_lines(bars: Sequence[StepBar]) -> None:
    """The figures of the bars; columns that nobody has a figure for are left out."""
    table = pd.DataFrame([step_time_line(bar) for bar in bars])
    show_figures(table.dropna(axis="columns", how="all"), words={"arm"})
