"""A job on the page: Run, its strips, Cancel, and a link to the stored run."""

from __future__ import annotations

import streamlit as st

from specviz.errors import UsageError
from specviz.live.job import Job
from specviz.runtime import current
from specviz.views.live import state
from specviz.views.shared.caller import check_may_open
from specviz.views.shared.messages import show_error
from specviz.views.shared.pages import RUNS, link
from specviz.views.shared.token_strip import token_strip


def asked_job() -> Job | None:
    """The job that the address names; None without one, and after a restart of the app."""
    return current().jobs.get(st.query_params.get(state.JOB, ""))


def run_or_cancel(choice: state.LiveChoice, job: Job | None) -> None:
    """One button in one place: Cancel while a job runs, else Run."""
    if job is not None and not job.done.is_set():
        _cancel_button(job)
    elif st.button("Run", type="primary", width="stretch", icon=":material/play_arrow:"):
        _start(choice)


def show_problem() -> None:
    """Why the last Run started nothing, or why a job in the address is not here."""
    if problem := st.session_state.get(state.PROBLEM):
        show_error(problem)
    if asked_job() is None and st.query_params.get(state.JOB):
        st.info("This job ended before the app was restarted. Its run is kept under Runs.")


def show_job(job: Job) -> None:
    """The strips of a job, live while it runs; the page reruns once when it ends."""
    stored = f"{RUNS.name}?group={job.job_id}"
    token_strip(f"/ws/jobs/{job.job_id}", mode="live", key=f"strip-{job.job_id}", link=stored)
    with st.container(horizontal=True, horizontal_alignment="right", height=56, border=False):
        if job.done.is_set():
            link(
                RUNS,
                "Open the stored run: replay, step by step",
                parameters={"group": job.job_id},
            )


def _start(choice: state.LiveChoice) -> None:
    """Start the arms and put the job into the address, or keep the reason for the page."""
    try:
        check_may_open(configs := choice.configs())
        job = current().jobs.start(choice.prompt(), configs, at_once=choice.at_once)
    except UsageError as error:
        st.session_state[state.PROBLEM] = str(error)
    else:
        st.session_state.pop(state.PROBLEM, None)
        st.query_params[state.JOB] = job.job_id
        st.rerun()


def _cancel_button(job: Job) -> None:
    """Stop the job; partial output is kept and stored."""
    if st.button("Cancel", width="stretch", icon=":material/stop:"):
        current().jobs.cancel(job.job_id)
        job.done.wait(timeout=5.0)
        st.rerun()
