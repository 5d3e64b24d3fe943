"""Before a server is started: what is known to go wrong, the command, and its files."""

from __future__ import annotations

import streamlit as st

from specviz.deploy.files import archive
from specviz.deploy.frameworks import launch_of
from specviz.deploy.launch import Launch
from specviz.errors import UsageError
from specviz.views.servers.launch_form.controls import DRAFT, TARGET, choose_request
from specviz.views.servers.launch_form.fit import show_fit
from specviz.views.shared.remarks import remark_line
from specviz.views.shared.text import escaped


def before_you_start_one() -> None:
    """The form, and what it makes of the answers."""
    with st.container(border=True):
        try:
            request = choose_request()
            launch = launch_of(request)
        except UsageError as error:
            st.info(escaped(str(error)), icon=":material/block:")
            return
        show_fit(request)
        if launch.remarks:
            st.markdown("  \n".join(map(remark_line, launch.remarks)))
        _show_launch(launch)
        missing = [name for name in (TARGET, DRAFT) if _stands(name, request.model, request.draft)]
        if missing:
            st.caption(f"Replace {' and '.join(missing)}.")


def _show_launch(launch: Launch) -> None:
    # plain: on a light page, Streamlit's colours for code have too little contrast
    st.code(launch.script, language=None, wrap_lines=True)
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


def _stands(name: str, *models: str | None) -> bool:
    return any(model in (name, f"{name}.gguf") for model in models)
