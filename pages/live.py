"""Live: one prompt on up to four arms, every decision as it is made."""

import streamlit as st

from specviz.errors import UsageError
from specviz.runtime import current
from specviz.views.live import controls as live_controls
from specviz.views.live import state as live_state
from specviz.views.live.arm_controls import arm_settings
from specviz.views.live.before_run import before_the_run
from specviz.views.live.job import cancel_button, show_job
from specviz.views.shared.caller import check_may_open
from specviz.views.shared.messages import show_error

live_state.ensure_prompt()

box, action = st.columns([7, 1], vertical_alignment="bottom")
with box:
    prompt_text = live_controls.prompt_box()
with st.container(horizontal=True, vertical_alignment="center"):
    live_controls.category_row()
    live_controls.another_prompt()
with st.container(horizontal=True, vertical_alignment="center"):
    arms = arm_settings()
    sampling, at_once = live_controls.sampling_settings()
choice = live_state.LiveChoice(prompt_text, sampling, at_once, arms)

jobs = current().jobs
job = jobs.get(st.query_params.get(live_state.JOB, ""))
with action:
    if job is not None and not job.done.is_set():
        cancel_button(job)
    elif st.button("Run", type="primary", width="stretch", icon=":material/play_arrow:"):
        try:
            check_may_open(configs := choice.configs())
            job = jobs.start(choice.prompt(), configs, at_once=choice.at_once)
        except UsageError as error:
            st.session_state[live_state.PROBLEM] = str(error)
        else:
            st.session_state.pop(live_state.PROBLEM, None)
            st.query_params[live_state.JOB] = job.job_id
            st.rerun()

if problem := st.session_state.get(live_state.PROBLEM):
    show_error(problem)
if job is None and st.query_params.get(live_state.JOB):
    st.info("This job ended before the app was restarted. Its run is kept under Runs.")
if job is None:
    before_the_run(choice)
else:
    show_job(job)
