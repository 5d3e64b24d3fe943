"""Where an opened run ran: software and hardware."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.engines.embedded.options import repeats_plain
from specviz.store import Store
from specviz.store.history.about import About
from specviz.store.history.size import file_size_of, read_share, share_text
from specviz.views.runs.opened import OpenedArm

PROMISES = {
    True: "plain decoding's, bit for bit",
    False: "plain decoding's, but a near tie can go either way",
    None: None,
}


def show_environment(arms: Sequence[OpenedArm], abouts: Sequence[About]) -> None:
    """Machine, versions, server and times of every arm, and the room they take."""
    st.dataframe(
        environment(arms, abouts),
        height="content",
        placeholder="–",
        column_config={"_index": st.column_config.TextColumn(width=130)},
    )
    st.caption(room_text(arms[0].store, abouts))


def environment(arms: Sequence[OpenedArm], abouts: Sequence[About]) -> pd.DataFrame:
    """One column per arm; what is not reported is blank."""
    columns = {}
    for arm, about in zip(arms, abouts, strict=True):
        run, config = arm.run, arm.config
        imported = about.imported_at
        columns[arm.name] = {
            "hardware": config.hardware,
            "engine": config.engine.value,
            "engine version": config.server_version,
            "greedy output": PROMISES[repeats_plain(config)],
            "server": config.server_url,
            "specviz": about.specviz_version,
            "git revision": config.git_revision,
            "started, UTC": f"{run.started_at:%Y-%m-%d %H:%M:%S}",
            "ended, UTC": run.finished_at and f"{run.finished_at:%Y-%m-%d %H:%M:%S}",
            "recorded": f"imported {imported:%Y-%m-%d %H:%M} UTC" if imported else "here",
            "traced": "yes: for looking, not for timing" if config.traced else "no",
            "run": run.run_id,
        }
    return pd.DataFrame(columns).astype("string")


def room_text(store: Store, abouts: Sequence[About]) -> str:
    """What is stored of the runs, and about how much room that takes."""
    share = store.read(read_share, [about.item for about in abouts])
    return f"Stored: {share_text(share, file_size_of(store))}."
