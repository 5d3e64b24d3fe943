"""A store with something in every table, for the tests of export and import."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from specviz.analysis.k.redraft import Redraft
from specviz.config import Message, Prompt, Run, RunStatus
from specviz.prompts.sets import Conversation
from specviz.sample import Sample
from specviz.store import ArmRow, RoundRow, SampleRow, Store
from specviz.store.benchmarks.redrafts import StepTime, put_redraft
from specviz.store.history.saved_views import put_view
from specviz.store.runs.tables import insert
from specviz.trace import Fidelity, RequestStarted, Trace
from tests.support.store.samples import new_run, record, request_events, step

HOSTILE = (
    "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)> '; DROP TABLE runs; -- "
    "\x1b]0;owned\x07 \u202egpj.exe \u2028 \0 {{7*7}} $x$ =cmd|' /C calc'!A0"
)


def filled(store: Store) -> None:
    """Runs that finished, failed, never started and hold hostile text; a benchmark with all it
    may have; results from elsewhere; a saved query; a deleted run; notes and tags."""
    record(store, new_run(run_id="plain"), request_events(3))
    record(store, new_run(run_id="hostile", group_id=HOSTILE, error=HOSTILE), hostile_events(),
           prompt=HOSTILE)  # fmt: skip
    unfinished(store)
    benchmark(store)
    store.write(_notes)
    store.write(_elsewhere)


def hostile_events() -> list[Any]:
    """A trace whose every text is hostile."""
    first = step(0)
    drafted = tuple(replace(token, text=HOSTILE) for token in first.drafted)
    emitted = tuple(replace(token, text=HOSTILE) for token in first.emitted)
    started, _, finished = request_events(1, "hostile-request")
    return [started, replace(first, drafted=drafted, emitted=emitted), finished]


def unfinished(store: Store) -> None:
    """Runs of which nothing arrived, and of which part did."""
    store.start_run(new_run(run_id="failed"))
    store.recorder("failed", Prompt("p")).finish(RunStatus.FAILED, error="no server")
    store.finish_run("failed", RunStatus.FAILED, error="no server")
    store.start_run(new_run(run_id="partial"))
    recorder = store.recorder("partial", Prompt("p", "id", "code", 7))
    recorder.append(RequestStarted("partial-request", Fidelity.COUNTED))
    recorder.append(step(3))
    recorder.finish(RunStatus.PARTIAL, error="stopped")
    store.finish_run("partial", RunStatus.PARTIAL)


def benchmark(store: Store, benchmark_id: str = "bench") -> None:
    """One arm, one round, a finished and a failed request, a redraft."""
    log = store.benchmark_log(benchmark_id)
    earlier = (Message("system", HOSTILE),)
    log.begin(name="Test", plan_toml="[[arms]]", planned=2, servers_at_once=1, hardware="a machine",
              conversations=(Conversation("i", ("one", "two"), "code", 9, earlier),),
              git_revision=None)  # fmt: skip
    run = new_run(run_id=f"cell-{benchmark_id}", group_id=benchmark_id)
    log.arm(ArmRow(0, "arm", "embedded", "draft_model", 3, *(None,) * 6))
    round_ = RoundRow(f"round-{benchmark_id}", run.run_id, 0, 0, 0)
    log.begin_round(run, round_)
    for sample in (_sample(), None):
        log.add(SampleRow(run_id=run.run_id, round_id=round_.round_id, prompt_index=0, turn=0,
                          block="b", sent_ms=1.5, queue_ms=0.0, started_at=datetime.now(UTC),
                          prompt=Prompt("one"), sample=sample,
                          error=None if sample else "refused"))  # fmt: skip
    log.end_round(replace(round_, complete=True, memory_bytes=2**40))
    log.end(RunStatus.PARTIAL, "one request failed")
    redraft = {(0, 0): Redraft(3, 3, (3, 3), (1, 0))}
    store.write(put_redraft, benchmark_id, 0, redraft, [StepTime(3, 2.5, 9)])


def _sample() -> Sample:
    return Sample(
        request_id=uuid.uuid4().hex, fidelity=Fidelity.COUNTED, text=HOSTILE, finish_reason="stop",
        prompt_tokens=3, token_ids=(1, 2, 3), chunk_ms=(1.1, 2.2), chunk_tokens=(1, 2),
        per_step_accepted=(1,), per_step_drafted=(3,), ttft_ms=1.1, e2el_ms=2.2,
    )  # fmt: skip


def _notes(cursor: Any) -> None:
    cursor.execute(
        "UPDATE runs SET name = ?, note = ?, tags = ['a', 'b'], deleted_at = now()::TIMESTAMP "
        "WHERE run_id = 'plain'",
        [HOSTILE, HOSTILE],
    )
    cursor.execute("INSERT INTO saved_queries VALUES ('q', 'SELECT 1', now()::TIMESTAMP)")
    put_view(cursor, "v", {"runs_text": HOSTILE, "runs_methods": ["ngram"]}, datetime.now(UTC))


def _elsewhere(cursor: Any) -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, 678901)
    insert(cursor, "elsewhere", {
        "elsewhere_id": "e", "name": HOSTILE, "tool": "guidellm", "file_name": "f.json",
        "file_sha256": "0" * 64, "imported_at": now, "num_requests": 1, "ttft_p95_ms": 0.1,
        "acceptance_rate_per_pos": [0.1, float("nan")], "document": "{\"a\": 1}",
    })  # fmt: skip
    insert(cursor, "elsewhere_requests", {
        "elsewhere_id": "e", "request_index": 0, "gaps_ms": [0.1, 1e-9], "output_text": HOSTILE,
    })  # fmt: skip


def put_anything(store: Store, reported: list[tuple[Run, Trace, Prompt]]) -> None:
    """Runs of any configuration and status that have ended, each with one trace."""
    from specviz.trace import RequestFinished

    for run, trace, prompt in reported:
        status = RunStatus.PARTIAL if run.status is RunStatus.RUNNING else run.status
        run = replace(run, run_id=uuid.uuid4().hex)
        store.start_run(run)
        recorder = store.recorder(run.run_id, prompt)
        recorder.append(RequestStarted(trace.request_id, trace.fidelity))
        for one in trace.steps:
            recorder.append(one)
        if trace.finish_reason is not None:
            recorder.append(RequestFinished(trace.prompt_token_ids, trace.ttft_ms, trace.e2el_ms,
                                            trace.finish_reason, trace.extra_bytes))  # fmt: skip
        recorder.finish(status)
        store.finish_run(run.run_id, status)
