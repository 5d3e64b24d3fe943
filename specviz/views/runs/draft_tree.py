"""The section of an opened run that draws the draft of one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.text import counted, probability_text, token_name
from specviz.analysis.verdict_text import judgement_text
from specviz.figures.draft_tree import draft_tree
from specviz.trace import Origin, Step, TokenDecision
from specviz.views.runs import state
from specviz.views.runs.opened import OpenedArm
from specviz.views.shared.charts import ONLY_AS_FILE, page_ground
from specviz.views.shared.text import escaped


def draft_of_a_step(arms: Sequence[OpenedArm]) -> None:
    """Choose an arm and a step; see every candidate, and the same as a table."""
    drafting = {arm.run.run_id: arm for arm in arms if arm.why_no_drafts is None}
    if not drafting:
        st.info(escaped(f"No arm reports a draft: {'; '.join(_reasons(arms))}."))
        return
    arm = _chosen(drafting)
    trace = arm.trace()
    assert trace is not None
    steps = [step for step in trace.steps if step.drafted]
    step = _chosen_step(steps, arm.run.run_id)
    context = "".join(
        token.text
        for before in trace.steps
        if before.index < step.index
        for token in before.emitted
    )
    st.caption(_summary(step))
    typical = arm.judges_typically
    figure = draft_tree(step, context, page_ground(), typical=typical)
    st.plotly_chart(figure, config=ONLY_AS_FILE, key=f"tree-{arm.run.run_id}")
    st.dataframe(_table(step, typical=typical), hide_index=True, placeholder="–")


def _chosen(drafting: Mapping[str, OpenedArm]) -> OpenedArm:
    first, *others = drafting
    if not others:
        return drafting[first]
    if st.session_state.get(state.TREE_ARM) not in drafting:
        st.session_state[state.TREE_ARM] = first
    chosen = st.segmented_control(
        "Arm",
        [*drafting],
        format_func=lambda run_id: escaped(drafting[run_id].name),
        key=state.TREE_ARM,
        label_visibility="collapsed",
    )
    return drafting[chosen or first]


def _chosen_step(steps: Sequence[Step], run_id: str) -> Step:
    """The step of the slider; steps without a draft are not on it."""
    by_number = {step.index + 1: step for step in steps}
    numbers = [*by_number]
    if len(numbers) == 1:
        return steps[0]
    key = state.tree_step_key(run_id)
    if st.session_state.get(key) not in by_number:
        st.session_state.pop(key, None)
    number = st.select_slider("Step", numbers, key=key, help="Steps that drafted something.")
    return by_number[number]


def _summary(step: Step) -> str:
    own = [token for token in step.emitted if token.origin is not Origin.ACCEPTED]
    then = f", then {own[-1].origin.value} {token_name(own[-1].text)}" if own else ""
    depth = max(token.depth for token in step.drafted)
    words = [f"drafted {len(step.drafted)} in {counted(depth, 'depth')}"]
    words.append(f"accepted {step.num_accepted}{then}")
    if step.matched_tokens is not None:
        words.append(f"the lookup matched the last {step.matched_tokens} tokens")
    if step.skipped_layers:
        words.append(f"{len(step.skipped_layers)} sublayers skipped")
    if step.allowed:
        most = counted(step.allowed.k, "draft token")
        words.append(f"at most {most} allowed ({step.allowed.reason})")
    legend = "numbers: target / draft probability → accept probability"
    return escaped(f"{', '.join(words)} · {legend} · dotted and faded: never judged")


def _table(step: Step, *, typical: bool) -> pd.DataFrame:
    lines = [
        {
            "#": place + 1,
            "depth": token.depth,
            "after": "context" if token.parent < 0 else f"# {token.parent + 1}",
            "token": token_name(token.text),
            "token id": token.token_id,
            "verdict": token.verdict.value,
            "target": probability_text(token.target_prob),
            "draft": probability_text(token.draft_prob),
            "accept": probability_text(token.accept_prob),
            "u": probability_text(token.u),
            "judgement": judgement_text(step, place, typical=typical),
            "target's best here": _best(token),
        }
        for place, token in enumerate(step.drafted)
    ]
    return pd.DataFrame(lines)


def _best(token: TokenDecision) -> str | None:
    best = [f"{token_name(top.text)} {probability_text(top.prob)}" for top in token.target_top]
    return " · ".join(best) or None


def _reasons(arms: Sequence[OpenedArm]) -> list[str]:
    return [f"{arm.name}: {arm.why_no_drafts}" for arm in arms]
