"""A small app around the token strip: one page and one WebSocket route that plays scenarios.

By hand: PYTHONPATH=. streamlit run tests/support/apps/strip.py, then open
/?source=/ws/three_arms/x?pace=40 (query of the source percent-encoded).
"""

import asyncio
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import streamlit as st
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.support.strip.scenarios import FAILURE, SCENARIOS, batches, hello

connections: Counter[str] = Counter()


def seen_events(value: str) -> dict[str, int]:
    """`a:3,b:0` as a dict."""
    pairs = [part.rsplit(":", 1) for part in value.split(",") if part]
    return {unquote(name): int(count) for name, count in pairs}


async def play(socket: WebSocket) -> None:
    """Play a scenario.

    `pace`: ms between messages; `size`: events in each; `drop`: messages after which the first
    connection of a run breaks; `fail`: messages after which the app fails; `resume`: `seen` sends
    the rest by what the browser has seen, `numbers` sends all again and leaves it to the browser to
    know what it has.
    """
    await socket.accept()
    query = socket.query_params
    name, run = socket.path_params["name"], socket.path_params["run"]
    if name not in SCENARIOS:
        await socket.close(4404, "This run is gone: start it again.")
        return
    connections[run] += 1
    drop = int(query.get("drop", 0)) if connections[run] == 1 else 0
    by_numbers = query.get("resume") == "numbers"
    seen = {} if by_numbers else seen_events(query.get("seen", ""))
    arms = SCENARIOS[name]()
    messages = batches(arms, seen, int(query.get("size", 4)), numbered=by_numbers)
    try:
        await socket.send_json(hello(arms, query.get("mode", "live")))
        for sent, message in enumerate(messages):
            if drop and sent == drop:
                await socket.close(1011)
                return
            if sent == int(query.get("fail", -1)):
                await socket.send_json({"type": "failed", "sentence": FAILURE})
                await socket.close(1011)
                return
            await socket.send_json(message)
            await asyncio.sleep(float(query.get("pace", 0)) / 1000)
        await socket.send_json({"type": "end"})
        await socket.close()
    except WebSocketDisconnect:
        pass  # the test is over


app = st.App(
    Path(__file__).with_name("strip_page.py"),
    routes=[WebSocketRoute("/ws/{name}/{run}", play)],
)
