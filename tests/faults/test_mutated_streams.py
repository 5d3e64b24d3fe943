"""Recorded streams, mutated: every run ends with a sentence, and what arrived is kept.

Seeds are 0 to the number of cases. The whole runs with `pytest -m slow tests/faults` and prints its
figures with `-s`.
"""

from __future__ import annotations

import asyncio
import json
import math
import resource
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from specviz.analysis.metrics import summarise
from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus, Sampling
from specviz.errors import EngineError, SpecvizError
from specviz.live.record import answer
from specviz.sample import Sample
from specviz.servers.client import arrivals
from specviz.servers.client.engine import ServerEngine
from specviz.servers.client.limits import most_tokens
from specviz.servers.client.probe import probe
from specviz.servers.timing.timed_server import TimedServer
from specviz.store import Recorder, Store, open_store
from specviz.store.runs.arrow import decision_table, step_table
from specviz.store.runs.recorder import EventLog
from specviz.store.runs.runs import read_group, read_trace
from specviz.trace import Event, Fidelity, Trace, Verdict, fold, whole
from tests.support.faults.kept_figures import keep
from tests.support.faults.mutated_server import HOST, MutatedServer, WiredConnections
from tests.support.faults.recorded_streams import MAX_TOKENS, recordings
from tests.support.faults.stream_mutations import Mutated, mutated

PROMPT = Prompt("hello")
SAMPLING = Sampling(max_tokens=MAX_TOKENS)
STALL_S = 0.05
MARGIN_S = 60.0
"""A busy machine may be late by this much; what nothing was done to is waited for this long."""

LONGEST_SENTENCE = 1000

QUICK = 75
"""Cases per client in the default run, of which the database gets one in `EVERY`."""

EVERY = 10


@dataclass
class Figures:
    """What happened in all cases."""

    cases: int = 0
    seconds: float = 0.0
    longest_s: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "TRACE_GRACE_S", STALL_S)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "runs.duckdb") as opened:
        yield opened


# What arrived, read independently of the program.


@dataclass
class Arrived:
    text: str = ""
    ids: tuple[int, ...] = ()
    all_have_ids: bool = True


def arrived(lines: Iterable[bytes]) -> Arrived:
    """The text and token ids of the lines before `[DONE]` or the first that cannot be read."""
    texts: list[str] = []
    ids: list[int] = []
    all_have_ids = True
    for line in lines:
        try:
            body = json.loads(line.decode(errors="replace"))
            if body is None:
                continue
            if body.get("error"):
                break
            choices = body.get("choices") or []
            if not isinstance(choices, list):
                break
            choice = next(filter(None, choices), {})
            text = (choice.get("delta") or {}).get("content") or ""
            if isinstance(text, list | dict):  # parts, of which only texts say something
                text = "x" if text == ["x"] else ""
            texts.append(text + "")
        except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
            break
        named = choice.get("token_ids")
        if isinstance(named, list) and all(is_id(one) for one in named):
            ids += [int(one) for one in named]
        elif text:
            all_have_ids = False
    return Arrived(whole("".join(texts)), tuple(ids), all_have_ids)


def is_id(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < 2**31 and value == int(value)  # type: ignore[operator]


def check_kept(case: Mutated, server: MutatedServer, text: str, *, to_the_end: bool) -> None:
    """Nothing that was read is lost and nothing is added; half a character may be open."""
    sent = arrived(case.lines[: case.stops_at])
    endless = case.endless if case.ending in ("endless", "drip") else b""
    if to_the_end:
        assert text == sent.text
        return
    read = arrived(server.delivered[:-1] if not endless else server.delivered)
    assert text.startswith(read.text.rstrip("\ufffd"))
    if not endless:
        assert sent.text.startswith(text.rstrip("\ufffd"))


def check_trace(trace: Trace) -> None:
    """No impossible trace is shown as one."""
    for step in trace.steps:
        accepted = [token.verdict is Verdict.ACCEPTED for token in step.drafted]
        assert accepted == sorted(accepted, reverse=True)
        assert not step.drafted or step.emitted or trace.fidelity is not Fidelity.TRACED
        for token in step.drafted:
            for value in (token.draft_prob, token.target_prob, token.accept_prob, token.u):
                assert value is None or 0.0 <= value <= 1.0
            assert all(0.0 <= top.prob <= 1.0 for top in token.target_top)
        assert all(
            value is None or (math.isfinite(value) and value >= 0)
            for value in (step.elapsed_ms, step.draft_ms, step.verify_ms, step.wall_ms)
        )
    assert [token.position for token in trace.emitted] == list(range(len(trace.emitted)))


def check_sentence(error: str | None) -> None:
    if error is not None:
        assert "(see the log)" not in error, error
        assert "\n" not in error
        assert len(error) <= LONGEST_SENTENCE
        error.encode()


class Sink:
    """What the store makes of events, without a database: quick enough for every `make test`."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.ended: list[RunStatus] = []

    def start_run(self, run: Run) -> None:
        """Nothing is kept."""

    def recorder(self, run_id: str, prompt: Prompt) -> Recorder:
        return self  # type: ignore[return-value]

    @property
    def trace(self) -> Trace | None:
        return self.log.trace

    def append(self, event: Event) -> None:
        self.log.append(event)

    def finish(self, status: RunStatus, *, error: str | None = None) -> None:
        trace = self.log.trace
        assert trace is not None
        now = datetime.now(UTC).replace(tzinfo=None)
        step_table(trace.request_id, now, trace.steps)
        decision_table(trace.request_id, now, trace.steps)
        summarise(trace)
        self.ended.append(status)

    def finish_run(self, run_id: str, status: RunStatus, *, error: str | None = None) -> None:
        self.ended.append(status)


async def live(
    case: Mutated, store: Store, figures: Figures, *, quick: bool = False, stall_s: float = STALL_S
) -> None:
    """One case through the probe, the live client and the store; of quick ones few are stored."""
    server = MutatedServer(case)
    http = httpx2.AsyncClient(transport=server)
    try:
        found = await probe(f"http://{HOST}", http)
        engine = ServerEngine(found, http, stall_timeout_s=stall_s)
        config = RunConfig(EngineKind.VLLM, engine.method, engine.k, sampling=SAMPLING)
    except SpecvizError as error:
        check_sentence(str(error))
        figures.ends["refused"] += 1
        await http.aclose()
        return
    finally:
        assert server.hosts == {HOST}
    run_id = uuid.uuid4().hex
    run = Run(run_id, run_id, config, RunStatus.RUNNING, started_at=datetime.now(UTC))
    events: list[Event] = []
    sink = Sink() if quick and case.seed % EVERY else store
    outcome = await answer(engine, run, PROMPT, sink, events.append)
    assert not isinstance(sink, Sink) or sink.ended == [outcome.status] * 2
    await engine.close()
    check_sentence(outcome.error)
    assert server.hosts == {HOST}
    figures.ends[outcome.status.value] += 1
    trace = fold(events)
    figures.ends[trace.fidelity.value] += 1
    check_trace(trace)
    if case.status != 200:
        assert outcome.status is RunStatus.FAILED and not trace.steps
        return
    gave_up = any(word in (outcome.error or "") for word in ("sent nothing", "far more"))
    hung_up = case.stops_at is not None and case.ending in ("endless", "drip")
    check_kept(case, server, trace.text, to_the_end=not gave_up and not hung_up)
    sent = arrived(case.lines[: case.stops_at])
    if not gave_up and not hung_up:
        assert trace.token_ids == sent.ids
    else:
        assert len(trace.emitted) <= most_tokens(MAX_TOKENS)
    if case.seed % (5 * EVERY) == 0:
        (stored,) = store.read(read_group, run_id)
        assert stored.status is outcome.status and stored.error == outcome.error
        kept = store.read(read_trace, trace.request_id)
        assert kept is not None and kept.text == trace.text and kept.token_ids == trace.token_ids


async def timed(case: Mutated, figures: Figures, *, stall_s: float = STALL_S) -> None:
    """One case through the timing client; its metrics are asked for before and after."""
    server = MutatedServer(case)
    http = httpx2.AsyncClient(transport=server)
    try:
        found = await probe(f"http://{HOST}", http)
    except EngineError as error:
        check_sentence(str(error))
        figures.ends["refused"] += 1
        await http.aclose()
        return
    engine = TimedServer(found, http, stall_timeout_s=stall_s)
    engine._connections = WiredConnections(server, stall_s)
    try:
        await engine.prefix_caching()
        counters = await engine.counters()
        sample = await engine.sample(PROMPT, SAMPLING)
        assert counters is None or counters.num_draft_tokens >= counters.num_accepted_tokens
    except EngineError as error:
        check_sentence(str(error))
        figures.ends["failed"] += 1
        return
    finally:
        await engine.close()
        assert server.hosts == {HOST}
    figures.ends["finished"] += 1
    check_sample(case, sample)


def check_sample(case: Mutated, sample: Sample) -> None:
    sent = arrived(case.lines[: case.stops_at])
    if case.stops_at is None or case.ending not in ("endless", "drip"):
        assert sample.text == sent.text
        if sample.token_ids:
            assert sample.token_ids == sent.ids
    sample.text.encode()
    assert len(sample.chunk_tokens) in (0, len(sample.chunk_ms))
    assert all(size > 0 for size in sample.chunk_tokens)
    if sample.per_step_accepted is not None and sample.per_step_drafted is not None:
        pairs = zip(sample.per_step_accepted, sample.per_step_drafted, strict=True)
        assert all(0 <= accepted <= drafted for accepted, drafted in pairs)


async def all_cases(seeds: range, store: Store, *, client: str, quick: bool = False) -> Figures:
    figures = Figures()
    for seed in seeds:
        case = mutated(seed)
        began = time.perf_counter()
        try:
            async with asyncio.timeout(STALL_S + MARGIN_S):
                if client == "live":
                    await live(case, store, figures, quick=quick)
                else:
                    await timed(case, figures)
        except BaseException as error:
            error.add_note(f"seed {seed}, {client} client: {', '.join(case.done)}")
            raise
        took = time.perf_counter() - began
        figures.cases += 1
        figures.seconds += took
        figures.longest_s = max(figures.longest_s, took)
    return figures


def left_running(store: Store) -> int:
    def count(cursor) -> int:  # type: ignore[no-untyped-def]
        statement = (
            "SELECT (SELECT count(*) FROM runs WHERE status = 'running')"
            " + (SELECT count(*) FROM requests WHERE status = 'running')"
        )
        return int(cursor.execute(statement).fetchone()[0])

    return store.read(count)


async def test_what_was_recorded_is_read_as_it_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "TRACE_GRACE_S", MARGIN_S)
    fidelities = []
    for recording in recordings():
        case = Mutated(1, recording, *(list(part) for part in (recording.lines, recording.records)),
                       dict(recording.pages))  # fmt: skip
        figures = Figures()
        await live(case, store, figures, stall_s=MARGIN_S)
        await timed(case, figures, stall_s=MARGIN_S)
        fidelities.append([end for end in figures.ends if end in set(Fidelity)])
        assert figures.ends["finished"] == 2
    assert fidelities == [["traced"], ["traced"], ["counted"], ["inferred"], ["inferred"]]
    assert left_running(store) == 0


async def test_mutated_streams_quickly(store: Store) -> None:
    await all_cases(range(QUICK), store, client="live", quick=True)
    await all_cases(range(QUICK), store, client="timing")
    assert left_running(store) == 0


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("client", "cases"), [("live", 5000), ("timing", 5000)])
async def test_ten_thousand_mutated_streams(store: Store, client: str, cases: int) -> None:
    before = peak_mb()
    figures = await all_cases(range(cases), store, client=client)
    assert left_running(store) == 0
    keep(f"{client} client", cases=figures.cases, ends=figures.ends, longest_s=figures.longest_s,
         mb_before=before, mb_at_most=peak_mb())  # fmt: skip
    print(f"\n{client}: {figures}, peak {peak_mb():.0f} MB, {before:.0f} MB before")
    assert peak_mb() - before < 1000


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
