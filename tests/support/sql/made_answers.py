"""A few runs whose answers to the shipped questions can be worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from specviz.config import EngineKind, Prompt, RunConfig, RunStatus, Sampling
from specviz.methods import Method
from specviz.store import Store
from specviz.store.runs.tables import insert, update
from specviz.trace import (
    ROOT,
    EmittedToken,
    Fidelity,
    Origin,
    RequestFinished,
    RequestStarted,
    Step,
    TokenDecision,
    Verdict,
)
from tests.support.store.samples import new_run

AT = datetime(2026, 11, 1, 12)
EAGLE = RunConfig(EngineKind.VLLM, Method.EAGLE3, k=3, traced=False)
PLAIN = RunConfig(EngineKind.VLLM, Method.BASELINE, traced=False)
TRACED = RunConfig(EngineKind.EMBEDDED, Method.DRAFT_MODEL, k=2, sampling=Sampling(temperature=0.8))


def fill(store: Store) -> None:
    """A benchmark of plain decoding and EAGLE-3, a traced run, a failed and a deleted one."""
    put_run(store, "plain", PLAIN)
    put_run(store, "eagle", EAGLE)
    put_run(store, "deleted", EAGLE, deleted_at=AT)
    row = {"name": "b", "plan_toml": "", "status": "finished", "planned": 4, "servers_at_once": 1}
    put(store, "benchmarks", benchmark_id="group", started_at=AT, specviz_version="0", **row)
    plain = {"e2el_ms": 2000.0, "tpot_ms": 20.0, "output_tokens": 100, "num_steps": 100}
    for place, category in enumerate(("code", "qa")):
        put_request(store, "plain", category, place, sent_ms=0.0, **plain)
    eagle = {"num_drafts": 10, "num_draft_tokens": 30, "output_tokens": 100, "num_steps": 10}
    put_request(
        store, "eagle", "code", 0, e2el_ms=1000.0, tpot_ms=10.0, num_accepted_tokens=18,
        acceptance_rate_per_pos=[0.8, 0.5, 0.5], **eagle,
    )  # fmt: skip
    put_request(
        store, "eagle", "qa", 1, e2el_ms=1990.0, tpot_ms=20.0, num_accepted_tokens=10,
        acceptance_rate_per_pos=[0.5, 0.4, 0.1], sent_ms=10.0,
        output_text="the same, but not at its end?", **eagle,
    )  # fmt: skip
    put_request(
        store, "deleted", "poetry", 2, e2el_ms=1e9, tpot_ms=1e9, num_accepted_tokens=0,
        acceptance_rate_per_pos=[0.0, 0.0, 0.0], **eagle,
    )  # fmt: skip
    trace_run(store)
    put_run(store, "failed", EAGLE, status="failed", error="the server went away")
    put(
        store, "requests", request_id="f", run_id="failed", status="failed", started_at=AT,
        prompt="?", error="<b>no answer</b>",
    )  # fmt: skip


def put(store: Store, table: str, **row: object) -> None:
    store.write(insert, table, row)


def put_run(store: Store, run_id: str, config: RunConfig, **changes: object) -> None:
    store.start_run(new_run(run_id=run_id, config=config, started_at=AT.replace(tzinfo=UTC)))
    store.finish_run(run_id, RunStatus.FINISHED)
    if changes:
        store.write(update, "runs", changes, "run_id", run_id)


def put_request(
    store: Store, run_id: str, category: str, place: int, sent_ms: float = 0.0, **figures: object
) -> None:
    """A benchmark's request with its sample."""
    request_id = f"{run_id}-{category}"
    accepted, drafted = figures.get("num_accepted_tokens"), figures.get("num_draft_tokens")
    row = {
        "output_text": "the same, but not at its end.",
        "output_throughput": 1000 * figures["output_tokens"] / figures["e2el_ms"],
        "draft_acceptance_rate": drafted and accepted / drafted,
        "fidelity": "counted",
        "ttft_ms": 10.0,
        **figures,
    }
    put(
        store, "requests", request_id=request_id, run_id=run_id, status="finished",
        started_at=AT + timedelta(seconds=place), category=category, prompt=f"about {category}",
        prompt_id=category, **row,
    )  # fmt: skip
    put(
        store, "samples", request_id=request_id, benchmark_id="group", run_id=run_id,
        round_id=f"round-{run_id}", prompt_index=place, turn=0, block="0", sent_ms=sent_ms,
        queue_ms=0.0,
    )  # fmt: skip


def decision(depth: int, text: str, verdict: Verdict, target: float, draft: float) -> TokenDecision:
    parent = depth - 2 if depth > 1 else ROOT
    return TokenDecision(depth, parent, depth, text, verdict, draft, target, min(1, target / draft))


def emitted(place: int, text: str) -> tuple[EmittedToken, ...]:
    return (EmittedToken(place, place, text, Origin.RECOVERED),)


def trace_run(store: Store) -> None:
    """Five steps of a draft model: in the text, after a line end, and between marks of code."""
    yes, no, unjudged = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.UNVERIFIED
    steps = [
        Step(0, 10.0, (), emitted(0, "Look:\n"), None, 4.0, 5.0),
        Step(1, 20.0, (decision(1, "the", no, 0.11, 0.95), decision(2, "x", unjudged, 0.5, 0.5)),
             emitted(1, "```"), 2.0, 4.0, 6.0),
        Step(2, 30.0, (decision(1, "the", yes, 0.91, 0.95),), emitted(2, "x "), 2.0, 4.0, 6.0),
        Step(3, 40.0, (decision(1, "the", no, 0.55, 0.56),), emitted(3, "```"), 2.0, 4.0, 6.0),
        Step(4, 50.0, (decision(1, "a b", no, 0.11, 0.95),), emitted(4, "."), 2.0, 4.0, 6.0),
    ]  # fmt: skip
    store.start_run(new_run(run_id="traced", config=TRACED))
    recorder = store.recorder("traced", Prompt("Look"))
    for event in [
        RequestStarted("t", Fidelity.TRACED), *steps, RequestFinished((1,), 10.0, 50.0, "stop")
    ]:  # fmt: skip
        recorder.append(event)
    recorder.finish(RunStatus.FINISHED)
    store.finish_run("traced", RunStatus.FINISHED)
    extra = {f"extra_{name}_bytes": 1 << 20 for name in ("weights", "kv_cache", "buffers")}
    store.write(update, "requests", extra, "request_id", "t")
