"""The top of an opened run: its name, its actions, and how to run it again."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from specviz.analysis.text import counted, terminal_text
from specviz.config import RunStatus
from specviz.machine import hardware_summary
from specviz.store import Store
from specviz.store.history.about import About
from specviz.store.history.line import Item
from specviz.views.live import prefill as live_again
from specviz.views.live import state as live_state
from specviz.views.runs import edit as runs_edit
from specviz.views.runs import state
from specviz.views.runs.opened import OpenedArm
from specviz.views.runs.rerun import (
    Circumstances,
    command_differences,
    command_of,
    live_differences,
)
from specviz.views.shared import pages
from specviz.views.shared.arm_choice import MAX_ARMS
from specviz.views.shared.exchange import export_control
from specviz.views.shared.text import escaped


def heading(store: Store, arms: Sequence[OpenedArm], abouts: Sequence[About]) -> None:
    """Name and note, tags, and a row of actions; a deleted run says so first."""
    items = list(dict.fromkeys(about.item for about in abouts))
    if deleted := [about.deleted_at for about in abouts if about.deleted_at]:
        runs_edit.deleted_banner(store, items, max(deleted))
    title = " against ".join(_unbroken(arm.name) for arm in arms)
    name = next((about.name for about in abouts if about.name), None)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(escaped(terminal_text(name)) if name else escaped(title), width="content")
        for text in sorted({text for about in abouts for text in about.tags}):
            st.badge(escaped(terminal_text(text)), icon=":material/sell:", color="gray")
        st.space("stretch")
        pages.link_back(pages.RUNS, "All runs")
    st.caption(_facts(arms, abouts, title if name else None))
    for note in dict.fromkeys(about.note for about in abouts if about.note):
        st.text(runs_edit.spelled_note(note))
    with st.container(horizontal=True, vertical_alignment="center"):
        _actions(store, arms, abouts, items)


def _facts(arms: Sequence[OpenedArm], abouts: Sequence[About], title: str | None) -> str:
    run, prompt = arms[0].run, arms[0].request.prompt
    facts = [
        title and escaped(title),
        f"{run.started_at:%d %B %Y, %H:%M:%S} UTC",
        escaped(prompt.category or "typed"),
        " · ".join(sorted({arm.run.status.value for arm in arms})),
        "imported" if any(about.imported_at for about in abouts) else None,
    ]
    return " · ".join(filter(None, facts))


def _actions(
    store: Store, arms: Sequence[OpenedArm], abouts: Sequence[About], items: Sequence[Item]
) -> None:
    _run_again(arms, abouts)
    _copy_command(arms, abouts)
    fixed = store.refusal is not None
    if st.button(
        "Edit",
        icon=":material/edit:",
        key="run_edit",
        disabled=fixed,
        help=store.refusal or "Name, tags and note.",
    ):
        runs_edit.edit_all(store, [runs_edit.subject(about) for about in abouts])
    benchmark_id = abouts[0].benchmark_id
    is_running = any(arm.run.status is RunStatus.RUNNING for arm in arms)
    is_deleted = any(about.deleted_at for about in abouts)
    if not benchmark_id:
        st.button(
            "Delete",
            icon=":material/delete:",
            key="run_delete",
            disabled=fixed or is_running or is_deleted,
            help=store.refusal or ("It is still running." if is_running else "Can be undone."),
            on_click=runs_edit.delete,
            args=(store, tuple(items)),
        )
    with st.popover("Export", icon=":material/output:", key="run_export"):
        export_control(store, [about.run_id for about in abouts])
    if benchmark_id:
        pages.link(
            pages.BENCHMARK, "The benchmark it is part of", parameters={"benchmark": benchmark_id}
        )
    elif len(arms) < abouts[0].num_together:
        pages.link(
            pages.RUNS,
            f"Open all {abouts[0].num_together} arms started together",
            icon=":material/view_column:",
            parameters={state.GROUP: arms[0].run.group_id},
        )


def _run_again(arms: Sequence[OpenedArm], abouts: Sequence[About]) -> None:
    """Live with everything set, as far as its controls go."""
    model = live_again.model_of([arm.config for arm in arms])
    found = dict.fromkeys(
        sentence
        for arm, about in zip(arms, abouts, strict=True)
        for sentence in live_differences(
            arm.config, live_again.on_live(arm.config, model), _circumstances(arm, about)
        )
    )
    text = "Opens Live with prompt, arms and sampling as they were."
    if found:
        text += " What differs:\n" + "".join(f"\n- {escaped(sentence)}" for sentence in found)
    if st.button(
        "Run this again",
        icon=":material/replay:",
        type="primary",
        key="run_again",
        help=text,
        disabled=len(arms) > MAX_ARMS,
    ):
        choices = [live_again.arm_choice(arm.config) for arm in arms]
        sampling = live_again.live_sampling(arms[0].config.sampling)
        live_state.load(arms[0].request.prompt, sampling, choices, model)
        pages.switch_to(pages.LIVE)


def _copy_command(arms: Sequence[OpenedArm], abouts: Sequence[About]) -> None:
    with st.popover("Copy as a command", icon=":material/terminal:", key="run_command"):
        lines = [command_of(arm.config, arm.request.prompt.text) for arm in arms]
        st.code("\n".join(lines), language="bash", wrap_lines=True)
        found = dict.fromkeys(
            sentence
            for arm, about in zip(arms, abouts, strict=True)
            for sentence in command_differences(arm.config, _circumstances(arm, about))
        )
        if len(arms) > 1:
            st.caption(
                f"{counted(len(arms), 'command')}, one for each arm: each is stored as a run of "
                "its own."
            )
        if found:
            st.caption("What differs:\n" + "".join(f"\n- {escaped(text)}" for text in found))


def _circumstances(arm: OpenedArm, about: About) -> Circumstances:
    prompt = arm.request.prompt
    return Circumstances(
        prompt=prompt.text,
        category=prompt.category,
        num_requests=arm.num_requests,
        is_of_benchmark=about.benchmark_id is not None,
        this_machine=hardware_summary(),
    )


def _unbroken(name: str) -> str:
    """A name that keeps to one line where the heading takes two."""
    return name.replace(" ", "\N{NO-BREAK SPACE}")
