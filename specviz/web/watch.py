"""WebSockets that follow a job or replay stored runs; the messages are those of the token strip.

`hello` names the arms, `batch`es bring what is new per arm, `end` says that nothing will follow and
`failed` why the rest cannot be shown. A browser that reconnects sends `?seen=<arm>:<events>,…` and
gets the rest. A job's events are encoded once for all watchers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import wraps

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from specviz.analysis.text import terminal_text
from specviz.config import Prompt, Run, RunConfig
from specviz.engines.replay import events_of
from specviz.errors import SpecvizError, StoreError
from specviz.live.job import ArmLog, Job, Phase
from specviz.runtime import Runtime, current
from specviz.store import RequestRow, Store
from specviz.store.history.drafts import read_logged_steps, replayed
from specviz.store.history.tool_result import read_tool_result
from specviz.store.runs.runs import read_group, read_request, read_run, read_trace
from specviz.strip.messages import arm_message, batch, figures_of, hello, logged, verdict_of

POLL_S = 0.03
"""Browsers draw at most 60 times a second; sending more often is waste."""

FIGURES_EVERY_S = 0.25

REPLAY_BATCH = 400
"""Events per message of a replay, so that a long run shows its first tokens at once."""

_log = logging.getLogger(__name__)

Watch = Callable[[WebSocket], Awaitable[None]]


def _reports_failure(watch: Watch) -> Watch:
    """Whatever `watch` raises reaches the page as a sentence, not as a lost connection.

    A browser that lost its connection comes back, to the same failure.
    """

    @wraps(watch)
    async def reporting(websocket: WebSocket) -> None:
        try:
            await watch(websocket)
        except WebSocketDisconnect:
            pass  # the browser went away; a job goes on
        except Exception as error:
            if not isinstance(error, SpecvizError):
                _log.exception("A run could not be shown.")
            with suppress(WebSocketDisconnect, RuntimeError):  # it may have gone meanwhile
                await websocket.send_json({"type": "failed", "sentence": _sentence(error)})
                await websocket.close()

    return reporting


def _sentence(error: Exception) -> str:
    if isinstance(error, SpecvizError):
        return str(error)
    return (
        f"The app cannot show the rest of this run ({type(error).__name__}: {error}): the run is "
        "kept under Runs, and the app's log says where it failed."
    )


@_reports_failure
async def watch_job(websocket: WebSocket) -> None:
    """Follow a job of this process until it ends."""
    await websocket.accept()
    job = current().jobs.get(websocket.path_params["job_id"])
    if job is None:
        await websocket.close(4404, "This job is no longer in memory: open its run under Runs.")
        return
    await _follow(websocket, job, _seen(websocket))
    await websocket.send_json({"type": "end"})
    await websocket.close()


@_reports_failure
async def replay_runs(websocket: WebSocket) -> None:
    """Send one stored run, or all runs of a group, whole; the browser plays them.

    Of a run with several requests the one at `place`, from 0: the first where none is named.
    """
    await websocket.accept()
    try:
        arms, prompt = await asyncio.to_thread(
            _load,
            current(),
            websocket.path_params["kind"],
            websocket.path_params["run_id"],
            websocket.path_params.get("place", 0),
        )
    except StoreError as error:
        await websocket.close(code=4404, reason=str(error)[:120])
        return
    seen = _seen(websocket)
    await websocket.send_json(hello("replay", prompt, arms))
    for arm in arms:
        for start in range(seen.get(arm.run_id, 0), len(arm.encoded), REPLAY_BATCH):
            events = arm.encoded[start : start + REPLAY_BATCH]
            await websocket.send_text(batch([arm_message(arm, start, events, None)], None))
    figures = [arm_message(arm, len(arm.encoded), [], figures_of(arm, arms)) for arm in arms]
    await websocket.send_text(batch(figures, verdict_of(arms)))
    await websocket.send_json({"type": "end"})
    await websocket.close()


@_reports_failure
async def replay_logged(websocket: WebSocket) -> None:
    """Send the steps of one request of another tool's log; the browser plays them."""
    await websocket.accept()
    parts = websocket.path_params
    for message in await asyncio.to_thread(_logged, parts["elsewhere_id"], parts["place"]):
        await websocket.send_text(message)
    await websocket.close()


routes = [
    WebSocketRoute("/ws/jobs/{job_id}", watch_job),
    WebSocketRoute("/ws/logged/{elsewhere_id}/{place:int}", replay_logged),
    WebSocketRoute("/ws/{kind:str}/{run_id}", replay_runs),
    WebSocketRoute("/ws/{kind:str}/{run_id}/{place:int}", replay_runs),
]


async def _follow(websocket: WebSocket, job: Job, seen: dict[str, int]) -> None:
    loop = asyncio.get_running_loop()
    states: dict[str, tuple[Phase, str | None]] = {}
    figures_at = 0.0
    introduced: list[RunConfig] = []
    while True:
        done = job.done.is_set()  # read before the events, which are complete if it is set
        if introduced != (configs := [arm.config for arm in job.arms]):
            introduced = configs  # a server reports its method and K once it is open
            await websocket.send_json(hello("live", job.prompt, job.arms))
        with_figures = done or loop.time() - figures_at >= FIGURES_EVERY_S
        messages = []
        for arm in job.arms:
            start = seen.get(arm.run_id, 0)
            state = (arm.phase, arm.note)
            events = arm.encoded[start:]
            if not events and states.get(arm.run_id) == state and not done:
                continue
            seen[arm.run_id] = start + len(events)
            states[arm.run_id] = state
            show = with_figures or state[0].is_final
            figures = figures_of(arm, job.arms) if show else None
            messages.append(arm_message(arm, start, events, figures))
        if messages:
            await websocket.send_text(batch(messages, verdict_of(job.arms) if done else None))
            figures_at = loop.time() if with_figures else figures_at
        if done:
            return
        await asyncio.sleep(POLL_S)


def _load(runtime: Runtime, kind: str, run_id: str, place: int) -> tuple[list[ArmLog], Prompt]:
    """The arms of a stored run (`kind` "runs") or of everything started with it ("groups")."""
    store = runtime.shown.runs([run_id])
    if kind == "runs":
        runs: list[Run] = [store.read(read_run, run_id)]
    elif kind == "groups":
        runs = store.read(read_group, run_id)
    else:
        raise StoreError(f"There is nothing to replay under {kind!r}.")
    arms = []
    prompt = None
    for run in runs:
        request = _request(store, run.run_id, place)
        prompt = prompt or request.prompt
        arm = ArmLog(run.run_id, run.config)
        if request.fidelity is not None:
            for event in events_of(store.read(read_trace, request.request_id)):
                arm.append(event)
        arm.phase = Phase(run.status.value)
        arm.note = run.error
        arms.append(arm)
    if prompt is None:
        raise StoreError(f"Nothing is stored under {run_id}.")
    return arms, prompt


def _logged(elsewhere_id: str, place: int) -> list[str]:
    store = current().shown.runs([elsewhere_id])
    row = store.read(read_tool_result, elsewhere_id)
    steps = replayed(store.read(read_logged_steps, elsewhere_id, place))
    if steps is None:
        raise StoreError("This request has no steps that name their tokens.")
    return logged(
        f"{elsewhere_id}-{place}", terminal_text(row["name"]), row["tool"], row["k"], steps
    )


def _request(store: Store, run_id: str, place: int) -> RequestRow:
    return store.read(read_request, run_id, place)


def _seen(websocket: WebSocket) -> dict[str, int]:
    """`?seen=<arm>:<events>,…` of a browser that reconnects."""
    seen = {}
    for part in websocket.query_params.get("seen", "").split(","):
        arm, _, count = part.partition(":")
        if arm and count.isdecimal():
            seen[arm] = int(count)
    return seen
