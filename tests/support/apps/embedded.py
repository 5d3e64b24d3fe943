"""The real app, except that the arms replay made-up traces of the embedded engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st

from specviz import runtime
from specviz.config import RunConfig
from specviz.engines.replay import ReplayEngine
from specviz.paths import PROJECT_ROOT
from specviz.web import ingest, watch
from tests.support.runs.embedded import trace_of

ENDLESS = 3000
"""Tokens: an answer that may be as long comes a step in seconds, to be cancelled."""


async def open_arm(
    config: RunConfig, note: Callable[[str], None]
) -> tuple[ReplayEngine, RunConfig]:
    speed = 0.01 if config.sampling.max_tokens >= ENDLESS else None
    return ReplayEngine(trace_of(config), speed), config


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    with runtime.opened(open_arm=open_arm):
        yield {}


app = st.App(
    str(PROJECT_ROOT / "specviz" / "views" / "navigation.py"),
    routes=[*watch.routes, *ingest.routes],
    lifespan=lifespan,
)
