"""A small store to compare in: traced runs that part, a benchmark's arms, foreign results."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.engines.replay import events_of
from specviz.methods import Method
from specviz.paths import PROJECT_ROOT
from specviz.prompts.sets import Conversation
from specviz.sample import Sample
from specviz.store import ArmRow, RoundRow, SampleRow, Store, open_store
from specviz.store.exchange import import_file
from specviz.store.runs.tables import insert, to_utc, update
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
from tests.support.runs.embedded import pieces, token_id

DATA = PROJECT_ROOT / "tests" / "unit" / "store" / "data"
AT = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
SCRIPT = "<script>window.owned = true</script><img src=x onerror='window.owned = true'>"
PROMPT = f"Say it {SCRIPT} \u202eback"
PLAIN, OTHER = "The cat sat on\nthe mat.", f"The cat sat by {SCRIPT} \u202e\x1b[31mשלום\nthe mat."
PROMPTS = 8


@dataclass(frozen=True, slots=True)
class Ids:
    """What the tests put into an address."""

    plain: str
    traced: str
    deleted: str
    baseline: str
    ngram: str
    loaded: str
    elsewhere: str
    vllm: str
    aiperf: str
    log: str


def fill(path: Path) -> Ids:
    """Make the store."""
    with open_store(path) as store:
        plain = live(store, "plain", RunConfig(EngineKind.EMBEDDED, Method.BASELINE, model="m"),
                     PLAIN)  # fmt: skip
        config = RunConfig(EngineKind.EMBEDDED, Method.NGRAM, 4, model="m", hardware="H200")
        traced = live(store, "traced", config, OTHER)
        deleted = live(store, "deleted", config, PLAIN)
        row = {"deleted_at": to_utc(datetime.now(UTC))}  # older ones are removed for good
        store.write(update, "runs", row, "run_id", deleted)
        named = {"name": "<b>mine</b> $x$"}
        store.write(update, "runs", named, "run_id", traced)
        arms = benchmark(store)
        store.write(insert, "elsewhere", FOREIGN)
        files = ("vllm-bench-serve-speculating.json", "aiperf-summary.json", "specspecs-log.zip")
        imported = [import_file(store, DATA / name).stored["result"][0] for name in files]
        return Ids(plain, traced, deleted, *arms, "foreign", *imported)


FOREIGN = {
    "elsewhere_id": "foreign",
    "name": "H100 last week",
    "tool": "vllm bench serve",
    "file_name": "f.json",
    "file_sha256": "0",
    "imported_at": datetime(2026, 11, 1),
    "num_requests": 200,
    "tpot_p50_ms": 7.25,
    "draft_acceptance_rate": 0.61,
    "acceptance_rate_per_pos": [0.8, 0.6, 0.4],
    "document": "{}",
}


def live(store: Store, run_id: str, config: RunConfig, text: str) -> str:
    """A traced run of one request."""
    store.start_run(Run(run_id, run_id, config, RunStatus.RUNNING, AT))
    recorder = store.recorder(run_id, Prompt(PROMPT))
    for event in events_of(trace(run_id, text, drafts=config.k is not None)):
        recorder.append(event)
    recorder.finish(RunStatus.FINISHED)
    store.finish_run(run_id, RunStatus.FINISHED)
    return run_id


def trace(run_id: str, text: str, *, drafts: bool) -> Trace:
    """One token a step; with drafts each of them rejects one."""
    steps = []
    for place, piece in enumerate(pieces(text)):
        top = (TopToken(token_id(piece), piece, 0.55), TopToken(token_id(" on"), " on", 0.4))
        wrong = TokenDecision(1, ROOT, 9, "no", Verdict.REJECTED, 0.5, 0.01, 0.0, None, top)
        origin = Origin.RECOVERED if drafts else Origin.TARGET
        token = EmittedToken(place, token_id(piece), piece, origin)
        steps.append(Step(place, 10.0 * (place + 1), (wrong,) if drafts else (), (token,)))
    return Trace(f"request-{run_id}", Fidelity.TRACED, tuple(steps), (1,), 10.0,
                 steps[-1].elapsed_ms, "stop")  # fmt: skip


def benchmark(store: Store) -> list[str]:
    """A baseline, a method that takes 0.6 of its time, and the same at another load."""
    log = store.benchmark_log("bench")
    asked = tuple(Conversation(f"i{place}", (f"prompt {place}",)) for place in range(PROMPTS))
    log.begin(
        name="Small bench", plan_toml="", planned=3 * PROMPTS, conversations=asked,
        servers_at_once=1, hardware="H200", git_revision=None,
    )  # fmt: skip
    baseline = RunConfig(EngineKind.VLLM, Method.BASELINE, model="m", traced=False)
    ngram = RunConfig(EngineKind.VLLM, Method.NGRAM, 3, model="m", traced=False)
    loaded = RunConfig(EngineKind.VLLM, Method.NGRAM, 3, model="m", traced=False, concurrency=4)
    arms = [(0, baseline, 1.0), (1, ngram, 0.6), (1, loaded, 0.9)]
    ids = [arm(store, f"arm{n}", place, config, factor)
           for n, (place, config, factor) in enumerate(arms)]  # fmt: skip
    log.end(RunStatus.FINISHED, None)
    return ids


def arm(store: Store, run_id: str, place: int, config: RunConfig, factor: float) -> str:
    log = store.benchmark_log("bench")
    name = config.title
    log.arm(ArmRow(place, name, "vllm", config.title, config.k, "m", None, None, None, None, None))
    run = Run(run_id, "bench", config, RunStatus.RUNNING, AT + timedelta(hours=1))
    log.begin_round(run, RoundRow(f"round-{run_id}", run_id, place, 0, 0))
    rng = random.Random(run_id)
    for prompt in range(PROMPTS):
        tokens = 20 + 10 * prompt
        end_ms = 20.0 + tokens * 8.0 * factor * rng.uniform(0.96, 1.04)
        accepted = tuple(rng.choice((0, 1, 2, 3)) for _ in range(10)) if config.k else ()
        sample = Sample(
            f"{run_id}-{prompt}", Fidelity.COUNTED, f"answer {prompt}", "stop",
            20.0 * rng.uniform(0.9, 1.1), end_ms, (20.0, end_ms), (1, tokens - 1),
            tuple(range(tokens)), tokens, 4, accepted, (3,) * len(accepted),
        )  # fmt: skip
        at = AT + timedelta(minutes=prompt)
        row = SampleRow(run_id, f"round-{run_id}", prompt, 0, Prompt(f"prompt {prompt}"), at,
                        f"block-{prompt}", 0.0, 0.0, sample)  # fmt: skip
        log.add(row)
    log.end(RunStatus.RUNNING, None)
    return run_id
