"""Learn: each method's mechanism, step by step, from a recorded trace or a stored run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
import streamlit as st

from specviz.analysis.text import digits, probability_text, token_name
from specviz.errors import StoreError
from specviz.figures.draft_tree import draft_tree
from specviz.figures.style import MONO, Ground
from specviz.methods import Method, record_of
from specviz.palette import ACCEPTED, RECOVERED
from specviz.runtime import current
from specviz.store.history.line import HistoryRow
from specviz.trace import ROOT, Origin, Step
from specviz.views.learn import state
from specviz.views.learn.traces import (
    Recording,
    method_of,
    methods,
    shipped,
    stored,
    stored_choices,
)
from specviz.views.shared import pages
from specviz.views.shared.charts import ONLY_AS_FILE, figure_row, page_ground
from specviz.views.shared.messages import show_error
from specviz.views.shared.tables import show_figures
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import bound

PLAY_EVERY_S = 1.0
LEGEND = (
    "Boxes: target / draft probability → accept probability; wide drafts have the numbers below. "
    "Struck through: rejected. Dotted and faded: never judged. A token is accepted if u is not "
    "above its accept probability."
)


def mechanisms() -> None:
    """Choose a method or a stored run; walk through its steps or play them."""
    try:
        recording = _chosen()
    except StoreError as error:
        show_error(error)
        return
    record = record_of(recording.run.config.method)
    source = ""
    if record is not None:
        st.markdown(record.mechanism)
        source = f"{record.source} · "
    st.caption(source + _where_from(recording))
    if (run_id := state.run_id()) is not None:
        pages.link(pages.RUNS, "The whole replay, under Runs", parameters={"run": run_id})
    with st.expander("Prompt"):
        st.text(recording.prompt.text)
    key = state.step_key(recording.run.run_id)
    playing = _play_button(key, len(recording.trace.steps))
    st.fragment(_steps, run_every=PLAY_EVERY_S if playing else None)(recording, key)


def _chosen() -> Recording:
    """Raises StoreError for a run that cannot be shown."""
    rows = stored_choices(current().store)
    state.start(state.METHOD, Method.DRAFT_MODEL.value)
    state.show_method_of({row.item.item_id: method_of(row) for row in rows})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        method = st.segmented_control(
            "Method",
            [method.value for method in methods()],
            required=True,
            on_change=state.choose_method,
            **bound(state.METHOD),
        )
        run_id = _run_control(rows)
    if run_id is not None:
        return stored(current().store, run_id)
    return shipped(Method(method or Method.DRAFT_MODEL))


def _run_control(rows: Sequence[HistoryRow]) -> str | None:
    """A stored run instead of the recorded one."""
    titles = {row.item.item_id: f"{row.title} · {row.prompt_start}" for row in rows}
    wanted = state.run_id()
    options = [*titles] if wanted is None or wanted in titles else [*titles, wanted]
    state.show_run(wanted)
    return st.selectbox(
        "Or a stored run that was traced",
        options,
        index=None,
        format_func=lambda run_id: titles.get(run_id, run_id),
        placeholder="the recorded trace" if options else "none is stored yet",
        disabled=not options,
        on_change=state.keep_run,
        width=300,
        key=state.RUN_CONTROL,
    )


def _where_from(recording: Recording) -> str:
    config = recording.run.config
    trace = recording.trace
    parts = [
        config.title,
        f"{config.model or 'model unknown'}, temperature {config.sampling.temperature:g}",
        f"recorded {recording.run.started_at:%d %B %Y}",
        f"{len(trace.emitted)} tokens in {len(trace.steps)} steps",
    ]
    if trace.e2el_ms is not None:
        parts.append(f"{digits(trace.e2el_ms)} ms")
    return escaped(" · ".join(parts))


def _steps(recording: Recording, key: str) -> None:
    """The step of the slider; while playing, the next one at every call."""
    steps = recording.trace.steps
    at = _step_control(key, len(steps))
    step = steps[at - 1]
    ground = page_ground()
    st.html(text_html(steps, step, ground))
    context = "".join(token.text for one in steps[: at - 1] for token in one.emitted)
    _figures(step)
    figure = draft_tree(step, context, ground, typical=recording.judges_typically)
    st.plotly_chart(figure, config=ONLY_AS_FILE, key="learn_step_chart")
    st.caption(LEGEND)
    if step.drafted:
        words = ("after", "token", "verdict", "target's first choice here")
        show_figures(drafted_table(step), words)


def _play_button(key: str, last: int) -> bool:
    """Outside of the fragment: what repeats it is decided where it is made."""
    playing = bool(st.session_state.get(state.PLAYING))
    st.button(
        "Pause" if playing else "Play",
        icon=":material/pause:" if playing else ":material/play_arrow:",
        on_click=state.toggle_playing,
        args=(key, last),
        disabled=last == 1,
        key="learn_play",
        width=110,
    )
    return playing


def _step_control(key: str, last: int) -> int:
    if last == 1:
        return 1
    if not state.advance(key, last):
        st.rerun()  # the whole page: the fragment must not be repeated any more
    step = int(st.slider("Step", 1, last, key=key))
    state.keep_step(step)
    return step


def text_html(steps: Sequence[Step], shown: Step, ground: Ground) -> str:
    """The answer up to and with the step shown, its new tokens in the colour of their origin."""
    colours = {
        Origin.ACCEPTED: ACCEPTED,
        Origin.RECOVERED: RECOVERED,
        Origin.BONUS: ground.bonus,
    }
    before = "".join(
        token.text for step in steps if step.index < shown.index for token in step.emitted
    )
    new = "".join(
        f'<span title="{token.origin.value}" style="border-bottom:3px solid '
        f'{colours.get(token.origin, ground.muted)};font-weight:600">'
        f"{escape(token.text)}</span>"
        for token in shown.emitted
    )
    return (
        f'<div style="font-family:{MONO};font-size:14px;line-height:1.7;white-space:pre-wrap;'
        f'min-height:5.1em;border:1px solid {ground.line};border-radius:8px;padding:10px 14px">'
        f'<span style="color:{ground.muted}">{escape(before)}</span>{new}</div>'
    )


def _figures(step: Step) -> None:
    own = [token for token in step.emitted if token.origin is not Origin.ACCEPTED]
    then = f"{own[-1].origin.value} {token_name(own[-1].text)}" if own else "–"
    figures = {
        "drafted": f"{len(step.drafted)} tok" if step.drafted else "nothing",
        "accepted": str(step.num_accepted),
        "then, by the target": then,
        "emitted": f"{len(step.emitted)} tok",
        "draft": _ms(step.draft_ms),
        "verify": _ms(step.verify_ms),
        "step": _ms(step.wall_ms),
    }
    if step.matched_tokens is not None:
        figures["lookup found again"] = f"{step.matched_tokens} tok"
    if step.skipped_layers is not None:
        figures["sublayers left out"] = str(len(step.skipped_layers))
    figure_row(figures)


def drafted_table(step: Step) -> pd.DataFrame:
    """One line per drafted token: the drafter's probability, the target's, the outcome."""
    return pd.DataFrame(
        {
            "#": str(place + 1),
            "after": "context" if token.parent == ROOT else f"# {token.parent + 1}",
            "token": token_name(token.text),
            "draft": probability_text(token.draft_prob),
            "target": probability_text(token.target_prob),
            "accept": probability_text(token.accept_prob),
            "u": probability_text(token.u),
            "verdict": token.verdict.value,
            "target's first choice here": token_name(token.target_top[0].text)
            if token.target_top
            else None,
        }
        for place, token in enumerate(step.drafted)
    )


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{digits(value)} ms"
