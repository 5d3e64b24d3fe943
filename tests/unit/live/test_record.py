"""Whatever is raised while a request runs, its run ends and what arrived is stored."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus, Sampling
from specviz.errors import StoreError, StreamBroken
from specviz.live.record import Outcome, answer
from specviz.store import Recorder, Store, open_store
from specviz.store.runs.runs import read_run, read_trace
from specviz.trace import EmittedToken, Event, Fidelity, Origin, RequestStarted, Step

PROMPT = Prompt("hello")


class Raising:
    """Gives one token and then raises."""

    def __init__(self, error: BaseException, text: str = "one ") -> None:
        self.error, self.text = error, text

    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Event, None]:
        yield RequestStarted("request", Fidelity.COUNTED)
        yield Step(0, 1.0, (), (EmittedToken(0, 7, self.text, Origin.TARGET),))
        raise self.error

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def store(tmp_path: Path, empty_database: Path) -> Iterator[Store]:
    with open_store(shutil.copyfile(empty_database, tmp_path / "runs.duckdb")) as opened:
        yield opened


def new_run() -> Run:
    config = RunConfig(EngineKind.VLLM, None)
    return Run("run", "run", config, RunStatus.RUNNING, started_at=datetime.now(UTC))


async def record(engine: Raising, store: Store) -> Outcome:
    return await answer(engine, new_run(), PROMPT, store, lambda _: None)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (StreamBroken("It broke."), "It broke."),
        (ValueError("x" * 10_000), "ValueError: xxx"),
        (RecursionError("too deep"), "RecursionError: too deep (see the log)"),
        (MemoryError(), "MemoryError:  (see the log)"),
        (UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates"), "UnicodeEncodeError"),
    ],
)
async def test_whatever_is_raised_ends_the_run(store: Store, error: Exception, says: str) -> None:
    outcome = await record(Raising(error), store)
    assert outcome.status is RunStatus.PARTIAL
    assert outcome.error is not None and says in outcome.error and len(outcome.error) < 400
    stored, trace = store.read(read_run, "run"), store.read(read_trace, "request")
    assert stored is not None and stored.status is RunStatus.PARTIAL
    assert stored.error == outcome.error
    assert trace is not None and trace.text == "one "


async def test_half_a_character_does_not_keep_a_run_from_being_stored(store: Store) -> None:
    await record(Raising(StreamBroken("It broke."), "one \ud83d"), store)
    trace = store.read(read_trace, "request")
    assert trace is not None and trace.text == "one \ufffd"


async def test_a_cancelled_request_is_stored(store: Store) -> None:
    with pytest.raises(asyncio.CancelledError):
        await record(Raising(asyncio.CancelledError()), store)
    stored, trace = store.read(read_run, "run"), store.read(read_trace, "request")
    assert stored is not None and stored.status is RunStatus.CANCELLED
    assert trace is not None and trace.text == "one "


async def test_a_viewer_that_raises_ends_the_run(store: Store) -> None:
    def broken(_: Event) -> None:
        raise TypeError("not JSON")

    outcome = await answer(Raising(StreamBroken("-")), new_run(), PROMPT, store, broken)
    stored = store.read(read_run, "run")
    assert stored is not None and stored.status is outcome.status is RunStatus.FAILED


class HalfASink:
    """A store that can begin and end runs and nothing else."""

    def __init__(self, error: Exception, *, in_recorder: bool) -> None:
        self.error, self.in_recorder = error, in_recorder
        self.ended: list[RunStatus] = []

    def start_run(self, run: Run) -> None:
        """Taken."""

    def recorder(self, run_id: str, prompt: Prompt) -> Recorder:
        if not self.in_recorder:
            raise self.error
        return self  # type: ignore[return-value]

    def append(self, event: Event) -> None:
        """Taken."""

    def finish(self, status: RunStatus, *, error: str | None = None) -> None:
        raise self.error

    def finish_run(self, run_id: str, status: RunStatus, *, error: str | None = None) -> None:
        self.ended.append(status)


@pytest.mark.parametrize("error", [StoreError("The disk is full."), TypeError("not a number")])
@pytest.mark.parametrize("in_recorder", [False, True])
async def test_a_recorder_that_fails_does_not_keep_the_run_open(
    error: Exception, in_recorder: bool
) -> None:
    sink = HalfASink(error, in_recorder=in_recorder)
    outcome = await answer(Raising(StreamBroken("-")), new_run(), PROMPT, sink, lambda _: None)
    assert sink.ended == [outcome.status]
    assert outcome.error is not None and str(error) in outcome.error
