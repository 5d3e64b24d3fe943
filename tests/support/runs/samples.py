"""A store as somebody left it: runs of several methods, a benchmark, results from elsewhere."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from duckdb import DuckDBPyConnection

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus, Sampling
from specviz.engines.replay import events_of
from specviz.methods import Method
from specviz.store import RecordedRequest, Store, open_store
from specviz.store.history.edits import rename, tag, write_note
from specviz.store.history.line import Item, Kind
from specviz.store.runs.tables import insert
from tests.support.runs.embedded import trace_of

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOSTILE = '<img src=x onerror="window.pwned=1"> $a$ **b** \u202eevil\u202c [x](javascript:1) \'--'
ELSEWHERE_ID = "e1"
MEDUSA = RunConfig(
    EngineKind.EMBEDDED,
    Method.MEDUSA,
    k=12,
    sampling=Sampling(0.7, 1.0, 96, 41),
    model="demo-target",
    draft="demo-medusa",
    options={"dtype": "float32", "shape": "tree"},
    server_version="torch 2.13.0",
    hardware="64 × somebody's processor",
    git_revision="abc123",
)


def fill(path: Path) -> None:
    """Runs r0 to r3 of two minutes' distance (r3 with two requests), benchmark b1, results e1."""
    prompts = ("Merge two sorted lists", "Write a story", "Merge two dicts", HOSTILE)
    configs = (
        RunConfig(EngineKind.EMBEDDED, Method.BASELINE, model="demo-target"),
        MEDUSA,
        RunConfig(EngineKind.EMBEDDED, Method.EAGLE3, 5, model="demo-target"),
        RunConfig(EngineKind.EMBEDDED, Method.NGRAM, 4, model="demo-target"),
    )
    with open_store(path) as store:
        for place, (text, config) in enumerate(zip(prompts, configs, strict=True)):
            categories = ("code_generation", "creative_writing") if place == 3 else (None,)
            wanted = [Prompt(text, None, category) for category in categories]
            record(store, f"r{place}", config, wanted, NOON + timedelta(minutes=2 * place))
        store.write(_more)


def record(
    store: Store, run_id: str, config: RunConfig, prompts: list[Prompt], at: datetime
) -> None:
    """A finished run of one request per prompt."""
    group_id = "together" if run_id in ("r1", "r2") else run_id
    run = Run(run_id, group_id, config, RunStatus.FINISHED, at, at + timedelta(seconds=9))
    requests = [
        RecordedRequest(
            prompt,
            tuple(events_of(trace_of(config))),
            RunStatus.FINISHED,
            at + timedelta(seconds=place),
        )
        for place, prompt in enumerate(prompts)
    ]
    store.ingest(run, requests)


def _more(cursor: DuckDBPyConnection) -> None:
    hostile = Item(Kind.RUN, "r3")
    rename(cursor, hostile, HOSTILE)
    write_note(cursor, [hostile], HOSTILE)
    tag(cursor, [hostile, Item(Kind.RUN, "r1")], ["<b>nightly</b>"])
    at = NOON.replace(tzinfo=None)
    row = {"benchmark_id": "b1", "name": "Weekly", "plan_toml": "", "status": "finished",
           "started_at": at - timedelta(days=1), "planned": 0, "servers_at_once": 1,
           "specviz_version": "0.1"}  # fmt: skip
    insert(cursor, "benchmarks", row)
    results = {"elsewhere_id": ELSEWHERE_ID, "name": HOSTILE, "tool": "vllm bench serve",
               "file_name": "eagle.json", "file_sha256": "0", "imported_at": at,
               "model": "Llama-3.1-8B", "method": "eagle", "k": 3, "num_requests": 200,
               "output_throughput": 812.5, "ttft_p95_ms": 41.25, "draft_acceptance_rate": 0.61,
               "acceptance_rate_per_pos": [0.8, 0.6, 0.4],
               "document": json.dumps({"note": HOSTILE})}  # fmt: skip
    insert(cursor, "elsewhere", results)
    request = {"elsewhere_id": ELSEWHERE_ID, "request_index": 0, "ttft_ms": 30.5,
               "output_text": HOSTILE}  # fmt: skip
    insert(cursor, "elsewhere_requests", request)
