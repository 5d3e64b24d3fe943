"""The real app, except that every arm answers with text made to escape from where it is shown."""

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
from specviz.views.shared.address import app_url
from specviz.web import exchange, ingest, query, watch

TEXTS = (
    "<script>window.hacked=1</script>",
    '<img src="/hacked.png" onerror="window.hacked=1">',
    "</script><svg onload=window.hacked=1>",
    "--><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "&lt;b&gt;&#x3c;i&#x3e;",
    "'; DROP TABLE runs; --",
    '${window.hacked=1}{{7*7}}`"\\',
    "\x1b]0;title\x07\x1b[31mred\x1b[2J",
    "\u202eright to left\u2066\u200f",
    "\ufffd\ufffd half",
    "$x^2$ **bold** [link](javascript:window.hacked=1) :red[x] :material/home:",
    "=HYPERLINK(\"http://evil.example/\",\"x\")",
    "http://evil.example/hacked.js",
)  # fmt: skip
MARK = "MARKED"
"""Each text ends with this and its number, so that it can be looked for in a page."""


def hostile_trace(request_id: str) -> Trace:
    """A step per text: drafted, rejected, emitted and among the target's best."""
    steps = []
    for place, text in enumerate(TEXTS):
        token = f"{text}{MARK}{place}"
        drafted = (_decision(token, 1, Verdict.ACCEPTED), _decision(token, 2, Verdict.REJECTED))
        emitted = (
            EmittedToken(2 * place, 7, token, Origin.ACCEPTED),
            EmittedToken(2 * place + 1, 8, token, Origin.RECOVERED),
        )
        steps.append(Step(place, 10.0 * (place + 1), drafted, emitted, 2.0, 4.0, 6.0))
    end_ms = steps[-1].elapsed_ms
    return Trace(request_id, Fidelity.TRACED, tuple(steps), (1,), 10.0, end_ms, "length")


def _decision(token: str, depth: int, verdict: Verdict) -> TokenDecision:
    top = tuple(TopToken(other, token, 0.5 / (other + 1)) for other in range(5))
    parent = ROOT if depth == 1 else depth - 2
    return TokenDecision(depth, parent, 7, token, verdict, 0.9, 0.5, 0.55, 0.3, top)


async def open_arm(
    config: RunConfig, note: Callable[[str], None]
) -> tuple[ReplayEngine, RunConfig]:
    return ReplayEngine(hostile_trace(f"hostile-{time.time_ns()}"), speed=None), config


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    with runtime.opened(open_arm=open_arm) as current:
        current.store.announce(app_url())  # commands ask this app
        yield {}


app = st.App(
    str(PROJECT_ROOT / "specviz" / "views" / "navigation.py"),
    routes=[*watch.routes, *ingest.routes, *query.routes, *exchange.routes],
    lifespan=lifespan,
)
