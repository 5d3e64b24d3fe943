"""Dialogs that give a server a name, or change what is known of a named one."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from specviz.errors import SpecvizError
from specviz.fleet.named import add_named, as_typed, replace_named
from specviz.servers.client.probe import base_url
from specviz.servers.kinds import KINDS, OPENAI
from specviz.store import Store
from specviz.store.named_servers import LONGEST_NAME, NamedServer
from specviz.views.shared.messages import show_error

KEY_HELP = (
    "The name of an environment variable of the app, such as GPU1_API_KEY; the key itself is never "
    "stored. Its host must be in SPECVIZ_API_KEY_HOSTS."
)
BASELINE_HELP = "This server answers without speculation what the other one answers with it."

_KINDS = {dialect.engine: dialect.name for dialect in (*KINDS, OPENAI)}


@st.dialog("Add a server")
def add_server(store: Store, servers: list[NamedServer], url: str = "") -> None:
    """A URL is enough; the server need not be running."""
    _form(store, servers, None, url)


@st.dialog("Edit the server")
def edit_server(store: Store, servers: list[NamedServer], server: NamedServer) -> None:
    _form(store, servers, server, server.url)


def _form(
    store: Store, servers: list[NamedServer], before: NamedServer | None, given_url: str
) -> None:
    others = [server.name for server in servers if server != before]
    of_before = before.baseline_of if before else None
    with st.form("servers_edit", border=False):
        url = st.text_input("URL", given_url, placeholder="http://gpu-1:8000")
        name = st.text_input(
            "Name",
            before.name if before else "",
            max_chars=LONGEST_NAME,
            placeholder="host and port of the URL",
        )
        labels = st.text_input(
            "Labels",
            ", ".join(before.labels) if before else "",
            placeholder="GPU box, H100",
            help="Separated by commas.",
        )
        with st.expander("Kind, baseline, API key"):
            kinds = [None, *_KINDS]
            kind = st.selectbox(
                "Kind",
                kinds,
                kinds.index(before.kind) if before and before.kind in kinds else 0,
                format_func=lambda one: _KINDS[one] if one else "recognised by asking it",
            )
            baseline_of = st.selectbox(
                "Baseline of",
                others,
                others.index(of_before) if of_before in others else None,
                placeholder="no other server",
                help=BASELINE_HELP,
            )
            key_env = st.text_input(
                "Variable with its API key",
                (before.key_env or "") if before else "",
                placeholder="none",
                help=KEY_HELP,
            )
        if not st.form_submit_button("Save" if before else "Add", type="primary"):
            return
    try:
        server = as_typed(
            name.strip() or _name_of(url),
            url,
            kind=kind,
            key_env=key_env,
            labels=labels.split(","),
            baseline_of=baseline_of or "",
            added_at=before.added_at if before else None,
        )
        if before is None:
            add_named(store, server)
        else:
            replace_named(store, before.name, server)
    except SpecvizError as error:
        show_error(error)
    else:
        st.rerun()


def _name_of(url: str) -> str:
    """Raises UsageError for something that is not a URL."""
    return urlsplit(base_url(url)).netloc[:LONGEST_NAME]
