"""Live: one prompt on up to four arms, every decision as it is made."""

import streamlit as st

from specviz.views.live import controls as live_controls
from specviz.views.live import state as live_state
from specviz.views.live.arm_controls import arm_settings, take_model
from specviz.views.live.before_run import before_the_run
from specviz.views.live.job import asked_job, run_or_cancel, show_job, show_problem
from specviz.views.shared.model_field import model_field

live_state.ensure_prompt()

box, action = st.columns([7, 1], vertical_alignment="bottom")
with box:
    prompt_text = live_controls.prompt_box()
with st.container(horizontal=True, vertical_alignment="center"):
    live_controls.category_row()
    live_controls.another_prompt()
with st.container(horizontal=True, vertical_alignment="bottom"):
    with st.container(width=380):
        take_model(model := model_field())
    arms = arm_settings(model)
    sampling, at_once = live_controls.sampling_settings()
choice = live_state.LiveChoice(prompt_text, sampling, at_once, arms, model.name)

job = asked_job()
with action:
    run_or_cancel(choice, job)
show_problem()
if job is None:
    before_the_run(choice)
else:
    show_job(job)
