"""Dialogs about one server: all that it reports, and the log of one that was started here."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from specviz.fleet.health import Health
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.probe import FoundServer
from specviz.views.servers.cells import NOT_REPORTED
from specviz.views.shared.text import escaped

LOG_LINES = 200


@st.dialog("What the server reports", width="medium")
def show_facts(name: str, health: Health | None) -> None:
    """What it offers, and how to see more of what it drafts."""
    facts_section(name, health)


def facts_section(name: str, health: Health | None) -> None:
    """The dialog's contents."""
    if health is None or health.found is None:
        st.text(health.problem if health and health.problem else f"{name} was not asked yet.")
        return
    st.table({fact: escaped(text) for fact, text in facts_of(health.found).items()})
    if health.found.advice:
        st.info(health.found.advice, icon=":material/lightbulb:")  # specviz's own words


@st.dialog("Log", width="large")
def show_log(log: Path | None) -> None:
    """The end of a started server's log; None for one whose process has not begun."""
    if log is None:
        st.text("Nothing is written yet: open the log again in a moment.")
        return
    text = log.read_text(encoding="utf-8", errors="replace")
    st.code("\n".join(text.splitlines()[-LOG_LINES:]), language=None, height=420)
    st.caption(escaped(str(log)))


def facts_of(server: FoundServer) -> dict[str, str]:
    """By the names under which users know them."""
    found = server.capabilities
    return {
        "URL": server.url,
        "Model": server.model,
        "Software": server.software or server.dialect.name,
        "Context": f"{server.max_model_len:,} tokens" if server.max_model_len else NOT_REPORTED,
        "Speculates": {True: "yes", False: "no", None: NOT_REPORTED}[found.speculates],
        "Method": found.method.value if found.method else NOT_REPORTED,
        "K": str(found.k) if found.k else NOT_REPORTED,
        "Verifier": _verifier(found),
        **({"Model runner": found.runner.upper()} if found.runner else {}),
        "Tracing": _tracing(found),
        "Fidelity": found.expected_fidelity.value,
    }


def _tracing(found: Capabilities) -> str:
    if not found.tracing:
        return f"off: {found.tracing_reason or NOT_REPORTED}"
    return " ".join(["on.", *found.hidden]) if found.hidden else "on"


def _verifier(found: Capabilities) -> str:
    if found.speculates is False:
        return "none: every token is the target's"
    rule = found.verifier
    return f"{rule.name}, {rule.verdict}. {rule.note}" if rule else NOT_REPORTED
