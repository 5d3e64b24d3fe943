"""The sections of an opened run that look into its steps."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.depths import DepthAcceptance, acceptance_by_depth
from specviz.analysis.overlap import Overlap, overlap
from specviz.analysis.skipped import SkippedLayers, skipped_layers
from specviz.analysis.text import digits, size_text
from specviz.figures.timeline import timeline
from specviz.methods import Method, record_of
from specviz.trace import Step
from specviz.views.runs.figures.acceptance import conditional_acceptance, unconditional_acceptance
from specviz.views.runs.figures.memory import extra_memory
from specviz.views.runs.figures.skipped_layers import skipped_layers_figure
from specviz.views.runs.opened import OpenedArm
from specviz.views.shared.charts import TOOLBAR
from specviz.views.shared.text import escaped

WINDOW_STEPS = 12
MEMORY_WORDS = (
    "**weights**: of a draft model, heads or adapters that plain decoding does not load · "
    "**KV cache**: keys and values that drafting keeps in addition to the target's · "
    "**buffers**: everything else drafting keeps, such as hidden states or a lookup index."
)


def acceptance(arms: Sequence[OpenedArm]) -> None:
    """Both rates that are called acceptance per position, with their counts."""
    depths = {}
    for arm in arms:
        trace = None if arm.why_no_drafts else arm.trace()
        if trace is not None:
            depths[arm.name] = acceptance_by_depth(trace.steps)
    _explain_blanks(arms, {arm.name: arm.why_no_drafts for arm in arms})
    if not depths:
        st.info("No arm reports which of its drafts were accepted at which position.")
        return
    heads = all(arm.config.method is Method.MEDUSA for arm in arms if arm.name in depths)
    word = "head" if heads else "draft position"
    left, right = st.columns(2)
    with left:
        st.markdown("**Unconditional**: of all steps that drafted, how many got this far")
        st.plotly_chart(unconditional_acceptance(depths, depth_word=word), config=TOOLBAR)
    with right:
        st.markdown("**Conditional**: of the steps that reached this position, how many accepted")
        st.plotly_chart(conditional_acceptance(depths, depth_word=word), config=TOOLBAR)
    st.caption(
        "A step reaches a position if every token before it was accepted and the draft goes on "
        "there; in a tree, any of the candidates may be the accepted one."
    )
    lines = [_depth_line(name, entry, word) for name, found in depths.items() for entry in found]
    st.dataframe(pd.DataFrame(lines), hide_index=True, placeholder="–")


def time_line(arms: Sequence[OpenedArm]) -> None:
    """When each lane worked, in a window of steps."""
    steps_of: dict[str, tuple[Step, ...]] = {}
    for arm in arms:
        trace = arm.trace()
        if trace is not None and any(step.spans for step in trace.steps):
            steps_of[arm.name] = trace.steps
    blank = {arm.name: None if arm.name in steps_of else arm.why_blank for arm in arms}
    if not steps_of:
        st.info(
            "No arm reports when drafting and verification ran: a server streams only the "
            "outcome of its steps. Arms on the embedded engine report it."
        )
        return
    _explain_blanks(arms, blank)
    first, last = _window(steps_of)
    shown = {
        name: [step for step in steps if first <= step.index + 1 <= last]
        for name, steps in steps_of.items()
    }
    st.plotly_chart(timeline(shown), config=TOOLBAR)
    lines = [
        _overlap_line(name, overlap(shown[name]), overlap(steps_of[name])) for name in steps_of
    ]
    st.dataframe(pd.DataFrame(lines), hide_index=True, placeholder="–")
    st.caption("overlap share: time both lanes worked / verification time.")


def skipped_grid(arm: OpenedArm) -> SkippedLayers | None:
    """The grid of a method that skips layers; None for others, without reading their trace."""
    record = record_of(arm.config.method)
    if record is None or not record.skips_layers:
        return None
    trace = arm.trace()
    return skipped_layers(trace.steps) if trace else None


def skipped(arms: Sequence[OpenedArm]) -> None:
    """Which sublayers each skipping arm left out while drafting, and the outcome."""
    for arm in arms:
        grid = skipped_grid(arm)
        if grid is None:
            continue
        st.markdown(f"**{escaped(arm.name)}**")
        st.plotly_chart(skipped_layers_figure(grid), config=TOOLBAR, key=f"skipped-{arm.name}")
    st.caption(
        "Rows end at the highest layer that was ever skipped: a trace does not name those that "
        "never were. Drafting skips; verification uses all layers."
    )


def memory(arms: Sequence[OpenedArm]) -> None:
    """What each arm holds in memory beyond plain decoding."""
    extra_bytes = {arm.name: arm.request.extra_bytes for arm in arms if arm.request.extra_bytes}
    blank = {arm.name: None if arm.name in extra_bytes else arm.why_blank for arm in arms}
    if not extra_bytes:
        st.info("Memory use is reported only by arms on the embedded engine.")
        return
    _explain_blanks(arms, blank)
    st.plotly_chart(extra_memory(extra_bytes), config=TOOLBAR)
    st.caption(MEMORY_WORDS)
    lines = [
        {
            "arm": name,
            "weights": size_text(extra.weights),
            "KV cache": size_text(extra.kv_cache),
            "buffers": size_text(extra.buffers),
            "in all": size_text(extra.total),
            "in all, bytes": extra.total,
        }
        for name, extra in extra_bytes.items()
    ]
    st.dataframe(
        pd.DataFrame(lines),
        hide_index=True,
        column_config={"in all, bytes": st.column_config.NumberColumn(format="localized")},
    )


def _window(steps_of: dict[str, tuple[Step, ...]]) -> tuple[int, int]:
    """The first and last step to show, counted from 1."""
    last = max(steps[-1].index + 1 for steps in steps_of.values())
    if last == 1:
        return 1, 1
    drafting = [s.index + 1 for steps in steps_of.values() for s in steps if s.drafted]
    begin = min(drafting, default=1)
    window = st.slider("Steps", 1, last, (begin, min(last, begin + WINDOW_STEPS - 1)))
    return int(window[0]), int(window[1])


def _depth_line(name: str, entry: DepthAcceptance, word: str) -> dict[str, object]:
    return {
        "arm": name,
        word: entry.depth,
        "accepted": entry.accepted,
        "reached": entry.reached,
        "drafting steps": entry.drafting,
        "unconditional": digits(entry.unconditional),
        "conditional": digits(entry.conditional),
    }


def _overlap_line(name: str, shown: Overlap | None, whole: Overlap | None) -> dict[str, object]:
    return {
        "arm": name,
        "draft ms": shown and digits(shown.draft_ms or None),
        "verify ms": shown and digits(shown.verify_ms),
        "both at once ms": shown and digits(shown.both_ms),
        "overlap share": shown and digits(shown.share),
        "overlap share of the whole run": whole and digits(whole.share),
    }


def _explain_blanks(arms: Sequence[OpenedArm], reasons: dict[str, str | None]) -> None:
    blank = [f"{arm.name}: {reasons[arm.name]}" for arm in arms if reasons[arm.name]]
    if blank and len(blank) < len(arms):
        st.caption(escaped("Not shown: " + " · ".join(blank)))
