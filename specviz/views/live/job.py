"""A job on the page: its strips, Cancel, and a link to the stored run."""

from __future__ import annotations

import streamlit as st

from specviz.live.job import Job
from specviz.runtime import current
from specviz.views.shared.pages import RUNS, link
from specviz.views.shared.token_strip import token_strip


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


def cancel_button(job: Job) -> None:
    """Stop the job; partial output is kept and stored."""
    if st.button("Cancel", width="stretch", icon=":material/stop:"):
        current().jobs.cancel(job.job_id)
        job.done.wait(timeout=5.0)
        st.rerun()
