"""One form for a server: start it here, or copy the command that starts it elsewhere."""

from __future__ import annotations

import streamlit as st

from specviz.config import EngineKind
from specviz.deploy.files import archive
from specviz.deploy.frameworks import launch_of
from specviz.deploy.launch import Launch
from specviz.deploy.request import Request
from specviz.errors import UsageError
from specviz.models.pair import default_model
from specviz.servers.kinds import LAUNCHERS, is_started
from specviz.servers.launch.pool import MAX_SERVERS, ServerPool
from specviz.views.servers.launch_form.controls import choose_request, is_unnamed
from specviz.views.servers.launch_form.copying import copy_button
from specviz.views.servers.launch_form.fit import show_fit
from specviz.views.servers.launch_form.spec import spec_of
from specviz.views.servers.started import start_in_background
from specviz.views.shared.caller import check_may_start
from specviz.views.shared.messages import show_error
from specviz.views.shared.remarks import remark_line
from specviz.views.shared.text import escaped


def start_one(pool: ServerPool) -> None:
    """The form, its two buttons, and the command with what is known to go wrong."""
    with st.container(border=True):
        try:
            request = choose_request()
        except UsageError as error:
            _refuse(error)
            return
        show_fit(request)
        launch = problem = None
        try:
            launch = launch_of(request)
        except UsageError as error:
            problem = error
        with st.container(horizontal=True, vertical_alignment="center"):
            starts = _start_button(request)
            if launch is not None:
                copy_button(launch.script)
        if starts:
            _start(pool, request)
        if launch is not None:
            _show_launch(request, launch)
        elif problem is not None:
            _refuse(problem)


def _start_button(request: Request) -> bool:
    here = is_started(EngineKind(request.framework))
    names = " and ".join(launcher.name for launcher in LAUNCHERS.values())
    return st.button(
        "Start here",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not here,
        help=(
            "On this machine, with the version that is installed here. At most "
            f"{MAX_SERVERS} run at once: one more stops the one that was used longest ago."
            if here
            else f"specviz starts {names}. Copy the command for others."
        ),
        key="launch_start",
    )


def _start(pool: ServerPool, request: Request) -> None:
    try:
        check_may_start()
        with st.spinner("looking for the models"):
            spec = spec_of(request)
    except UsageError as error:
        show_error(error)
        return
    start_in_background(pool, spec)
    st.rerun()  # the table is above


def _refuse(problem: UsageError) -> None:
    st.info(escaped(str(problem)), icon=":material/block:")


def _show_launch(request: Request, launch: Launch) -> None:
    # plain: on a light page, Streamlit's colours for code have too little contrast
    st.code(launch.script, language=None, wrap_lines=True)
    unnamed = [name for name in (request.model, request.draft) if is_unnamed(name)]
    if unnamed:
        here = (
            f" *Start here* takes {escaped(default_model())}." if is_unnamed(request.model) else ""
        )
        st.caption(f"Replace {' and '.join(map(str, unnamed))}.{here}")
    for name, text in launch.files.items():
        st.caption(escaped(name))
        st.code(text, language=None, wrap_lines=True)
    if launch.files:
        st.download_button(
            "Download the files",
            archive(launch.files),
            f"{launch.framework}.zip",
            "application/zip",
            icon=":material/download:",
            on_click="ignore",
        )
    if launch.remarks:
        st.markdown("  \n".join(map(remark_line, launch.remarks)))
