"""The dialog that starts a server on this machine, in the background."""

from __future__ import annotations

import shlex

import streamlit as st

from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.methods import METHODS, Method
from specviz.models.pair import default_model, pair_of
from specviz.servers.kinds import LAUNCHERS, launcher_of
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import MAX_SERVERS, ServerPool
from specviz.views.servers.started import start_in_background
from specviz.views.servers.state import key_of
from specviz.views.shared.arm_choice import startable
from specviz.views.shared.caller import check_may_start
from specviz.views.shared.messages import show_error

USUAL_K = 5


@st.dialog("Start a server here")
def start_server(pool: ServerPool) -> None:
    """Kind, models, method and flags; the table shows how far it is."""
    kind = st.selectbox(
        "Kind",
        [*LAUNCHERS],
        format_func=lambda engine: LAUNCHERS[engine].name,
        key=key_of("start_kind"),
    )
    model = st.text_input(
        "Target model",
        placeholder=default_model(),
        help=f"A folder here, or a name on Hugging Face. Empty: {default_model()}.",
        key=key_of("start_model"),
    )
    left, right = st.columns([2, 1])
    methods = startable(kind)
    usual = methods.index(Method.DRAFT_MODEL) if Method.DRAFT_MODEL in methods else 0
    method = left.selectbox(
        "Method", methods, usual, format_func=lambda one: one.value, key=key_of("start_method")
    )
    drafts = method is not Method.BASELINE
    k = right.number_input("K", 1, 32, USUAL_K, disabled=not drafts, key=key_of("start_k"))
    needs_draft = METHODS[method].needs_draft
    draft = st.text_input(
        "Draft model or head",
        placeholder="one that fits" if needs_draft else "this method needs none",
        disabled=not needs_draft,
        key=key_of("start_draft"),
    )
    flags = st.text_input(
        f"Flags for {LAUNCHERS[kind].name}",
        placeholder=LAUNCHERS[kind].a_flag,
        key=key_of("start_flags"),
    )
    st.caption(
        f"Loading takes a while, {LAUNCHERS[kind].usual_start}. At most {MAX_SERVERS} servers that "
        "were started here run at once: one more stops the one that was used longest ago."
    )
    if st.button("Start", type="primary", icon=":material/play_arrow:", key=key_of("start_now")):
        try:
            check_may_start()
            spec = spec_of(
                kind, model, method, int(k) if drafts else None, draft if needs_draft else "", flags
            )
        except UsageError as error:
            show_error(error)
            return
        start_in_background(pool, spec)
        st.rerun()


def spec_of(
    kind: EngineKind, model: str, method: Method, k: int | None, draft: str, flags: str
) -> ServerSpec:
    """The server that the form asks for; empty text is the default model's.

    Raises UsageError for a draft that is missing, or flags that are not a command line.
    """
    pair = pair_of(model.strip() or None, draft.strip() or None, method)
    try:
        extra = tuple(shlex.split(flags))
    except ValueError as error:
        raise UsageError(f"The flags are no command line: {error}.") from error
    return ServerSpec(launcher_of(kind), pair.target, method, pair.draft, k, extra_args=extra)
