"""The real app, except that every arm replays one long made-up trace as fast as it can."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st

from specviz import runtime
from specviz.config import RunConfig
from specviz.engines.replay import ReplayEngine
from specviz.paths import PROJECT_ROOT
from specviz.trace import (
    ROOT,
    EmittedToken,
    Fidelity,
    Origin,
    Step,
    TokenDecision,
    TopToken,
    Trace,
    Verdict,
)
from specviz.web import ingest, watch

TOKENS = 4000
K = 5
LAST_TEXT = "THE-END"


def long_trace(request_id: str) -> Trace:
    """4000 tokens in steps that accept 0 to 5 of 5 drafts in turn, a line break now and then."""
    steps: list[Step] = []
    position = 0
    while position < TOKENS:
        accepted = min(len(steps) % (K + 1), TOKENS - position - 1)
        drafted = tuple(_decision(depth, accepted) for depth in range(K))
        origins = [Origin.ACCEPTED] * accepted
        origins.append(Origin.BONUS if accepted == K else Origin.RECOVERED)
        emitted = tuple(
            EmittedToken(position + offset, offset, _text(position + offset), origin)
            for offset, origin in enumerate(origins)
        )
        position += len(emitted)
        steps.append(Step(len(steps), 10.0 * len(steps), drafted, emitted, 2.6, 4.3, 7.0))
    end_ms = steps[-1].elapsed_ms
    return Trace(request_id, Fidelity.TRACED, tuple(steps), (1,), 10.0, end_ms, "length")


def _text(position: int) -> str:
    if position == TOKENS - 1:
        return LAST_TEXT
    return "\n" if position % 23 == 22 else f" w{position}"


def _decision(depth: int, accepted: int) -> TokenDecision:
    verdict = Verdict.ACCEPTED if depth < accepted else Verdict.UNVERIFIED
    verdict = Verdict.REJECTED if depth == accepted else verdict
    top = tuple(TopToken(token, f" alt{token}", 0.5 / (token + 1)) for token in range(5))
    parent = depth - 1 if depth else ROOT
    return TokenDecision(depth + 1, parent, depth, f" d{depth}", verdict, 0.9, 0.5, 0.55, 0.3, top)


async def open_arm(
    config: RunConfig, note: Callable[[str], None]
) -> tuple[ReplayEngine, RunConfig]:
    return ReplayEngine(long_trace(f"long-{time.time_ns()}"), speed=None), config


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    with runtime.opened(open_arm=open_arm):
        yield {}


app = st.App(
    str(PROJECT_ROOT / "specviz" / "views" / "navigation.py"),
    routes=[*watch.routes, *ingest.routes],
    lifespan=lifespan,
)
