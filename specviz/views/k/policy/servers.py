"""The policy as vLLM, SGLang and TensorRT-LLM take a schedule, and what that leaves out."""

from __future__ import annotations

import streamlit as st

from specviz.analysis.benchmark.results import ArmState
from specviz.analysis.policy.sentences import row_titles
from specviz.deploy.frameworks import framework_of
from specviz.deploy.schedules import vllm
from specviz.deploy.schedules.schedules import NAMES, schedule_of
from specviz.deploy.schedules.steps import steps_of
from specviz.errors import UsageError
from specviz.methods import VLLM
from specviz.policy.policy import Policy
from specviz.views.k import state
from specviz.views.shared.remarks import remark_line
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import bound, keep_among


def show_schedule(policy: Policy, arm: ArmState) -> None:
    """Of one row, because no server's schedule knows the temperature."""
    server, version_field, row_field = st.columns(3)
    titles = {name: framework_of(name).title for name in NAMES}
    name = server.selectbox("Server", NAMES, format_func=titles.__getitem__, **bound(state.SERVER))
    versions = framework_of(name).versions[::-1]
    keep_among(state.VERSION, versions)
    version = version_field.selectbox("Version", versions, **bound(state.VERSION))
    rows = row_titles([row.temperature for row in policy.rows])
    keep_among(state.ROW, rows)
    row = row_field.selectbox("Requests", rows, **bound(state.ROW))
    temperature = _temperature(policy, rows.index(row))
    try:
        found = schedule_of(name, policy, temperature, version=version)
    except UsageError as error:
        st.info(escaped(str(error)), icon=":material/block:")
        return
    text = found.option
    if name == VLLM and arm.method in framework_of(name).methods(version):
        text = vllm.flag(steps_of(policy, temperature), arm.method, arm.draft)
    st.code(text, language=None, wrap_lines=True)
    for file, content in found.files.items():
        st.caption(escaped(file))
        st.code(content, language=None, wrap_lines=True)
    st.markdown(escaped(found.cannot))
    if found.remarks:
        st.markdown("  \n".join(map(remark_line, found.remarks)))
    st.caption(escaped(f"Form read in {found.source}."))


def _temperature(policy: Policy, place: int) -> float:
    """One that has this row: the last row's is above all others."""
    own = policy.rows[place].temperature
    known = [row.temperature for row in policy.rows if row.temperature is not None]
    return own if own is not None else max(known, default=0.0) + 1.0
