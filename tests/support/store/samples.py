"""Runs, requests and traces for the store's tests: fixed ones and hypothesis strategies."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
from duckdb import DuckDBPyConnection
from hypothesis import strategies as st

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus, Sampling
from specviz.methods import Method
from specviz.store import Store
from specviz.store.history.filter import HistoryFilter
from specviz.store.history.history import read_history
from specviz.store.history.line import Kind
from specviz.trace import (
    ROOT,
    Channel,
    EmittedToken,
    Event,
    ExtraBytes,
    Fidelity,
    Lane,
    Origin,
    RequestFinished,
    RequestStarted,
    Span,
    Step,
    TokenDecision,
    TopToken,
    Trace,
    Verdict,
)

CONFIG = RunConfig(EngineKind.EMBEDDED, Method.DRAFT_MODEL, k=3)


def new_run(**changes: object) -> Run:
    fields = {
        "run_id": uuid.uuid4().hex,
        "group_id": "group",
        "config": CONFIG,
        "status": RunStatus.RUNNING,
        "started_at": datetime.now(UTC),
        **changes,
    }
    return Run(**fields)  # type: ignore[arg-type]


def step(index: int, *, drafted: int = 3, accepted: int = 1) -> Step:
    """A chain of `drafted` tokens of which `accepted` were accepted, 10 ms per step."""
    decisions = tuple(
        TokenDecision(depth + 1, depth - 1, 100 + depth, f"d{depth} ", _verdict(depth, accepted))
        for depth in range(drafted)
    )
    emitted = tuple(
        EmittedToken(index * 10 + place, place, f"t{index}.{place} ", Origin.ACCEPTED)
        for place in range(accepted + 1)
    )
    return Step(index, 10.0 * (index + 1), decisions, emitted)


def request_events(num_steps: int, request_id: str | None = None) -> list[Event]:
    """A whole request."""
    return [
        RequestStarted(request_id or uuid.uuid4().hex, Fidelity.TRACED),
        *(step(index) for index in range(num_steps)),
        RequestFinished((1, 2, 3), 10.0, 10.0 * num_steps, "length"),
    ]


def record(store: Store, run: Run, events: list[Event], prompt: str = "What is new?") -> None:
    """One run of one finished request."""
    store.start_run(run)
    recorder = store.recorder(run.run_id, Prompt(prompt))
    for event in events:
        recorder.append(event)
    recorder.finish(RunStatus.FINISHED)
    store.finish_run(run.run_id, RunStatus.FINISHED)


def frame_of(cursor: DuckDBPyConnection, sql: str, values: Sequence[object] = ()) -> pd.DataFrame:
    """A query's rows, to look into the tables with `store.read`."""
    return cursor.execute(sql, list(values)).df()


def num_runs(cursor: DuckDBPyConnection) -> int:
    """How many runs there are, those of benchmarks and deleted ones left out."""
    return read_history(cursor, HistoryFilter(kinds=(Kind.RUN,))).total


def _verdict(depth: int, accepted: int) -> Verdict:
    if depth < accepted:
        return Verdict.ACCEPTED
    return Verdict.REJECTED if depth == accepted else Verdict.UNVERIFIED


token_ids = st.integers(0, 2**31 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [
        "",
        "\0",
        "a\0b",
        "שלום",
        "مرحبا",
        "👩‍👩‍👧‍👦",
        "한국어",
        "\u202eabc",
        "e\u0301",
        "\n",
        "'\"\\;--",
    ]
)
# 32 bits, as engines compute them and the store keeps them
probs = st.none() | st.floats(0.0, 1.0, width=32) | st.sampled_from([0, 1, 2**-149, 1 - 2**-24])
times_ms = st.floats(0.0, 1e9)
maybe_ms = st.none() | st.floats(0.0, 1e9, width=32)  # kept in 32 bits
top_tokens = st.builds(TopToken, token_ids, texts, st.floats(0.0, 1.0, width=32))


@st.composite
def drafts(draw: st.DrawFn) -> tuple[TokenDecision, ...]:
    """A draft tree: every token's parent is an earlier one, or the root."""
    depths: list[int] = []
    tokens = []
    for place in range(draw(st.integers(0, 6))):
        parent = draw(st.integers(ROOT, place - 1))
        depths.append(1 if parent == ROOT else depths[parent] + 1)
        tokens.append(
            TokenDecision(
                depth=depths[place],
                parent=parent,
                token_id=draw(st.none() | token_ids),
                text=draw(st.none() | texts),
                verdict=draw(st.sampled_from(Verdict)),
                draft_prob=draw(probs),
                target_prob=draw(probs),
                accept_prob=draw(probs),
                u=draw(probs),
                target_top=tuple(draw(st.lists(top_tokens, max_size=5))),
            )
        )
    return tuple(tokens)


emitted_tokens = st.builds(
    EmittedToken,
    st.integers(0, 2**31 - 1),
    st.none() | token_ids,
    texts,
    st.sampled_from(Origin),
    st.just(Channel.ANSWER) | st.sampled_from(Channel),
)


spans = st.builds(Span, st.sampled_from(Lane), times_ms, times_ms)
skipped_layers = st.none() | st.lists(
    st.sampled_from(["attention 0", "mlp 0", "mlp 11"]) | texts, max_size=4
).map(tuple)
extra_bytes = st.none() | st.builds(ExtraBytes, *[st.integers(0, 2**63 - 1) for _ in range(3)])


@st.composite
def step_lists(draw: st.DrawFn) -> tuple[Step, ...]:
    indices = sorted(draw(st.sets(st.integers(0, 50), max_size=5)))
    return tuple(
        Step(
            index,
            draw(times_ms),
            draw(drafts()),
            tuple(draw(st.lists(emitted_tokens, max_size=4))),
            draw(maybe_ms),
            draw(maybe_ms),
            draw(maybe_ms),
            tuple(draw(st.lists(spans, max_size=3))),
            draw(skipped_layers),
            draw(st.none() | st.integers(0, 2**31 - 1)),
        )
        for index in indices
    )


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Any trace that events can make, finished or not."""
    base = Trace(
        # the store outlives one example, so ids must not repeat
        f"{draw(texts)}-{random.SystemRandom().getrandbits(64):x}",
        draw(st.sampled_from(Fidelity)),
        draw(step_lists()),
    )
    if not draw(st.booleans()):
        return base
    return Trace(
        base.request_id,
        base.fidelity,
        base.steps,
        tuple(draw(st.lists(token_ids, max_size=5))),
        draw(maybe_ms),
        draw(times_ms),
        draw(st.sampled_from(["stop", "length", ""])),
        draw(extra_bytes),
    )


prompts = st.builds(
    Prompt,
    texts.filter(str.strip),
    st.none() | texts,
    st.none() | texts,
    st.none() | st.integers(1, 4096),
)
samplings = st.builds(
    Sampling,
    st.floats(0.0, 2.0),
    st.floats(1e-9, 1.0),
    st.integers(1, 100_000),
    st.none() | st.integers(-(2**63), 2**63 - 1),
)
optional_texts = st.none() | texts
configs = st.builds(
    RunConfig,
    st.sampled_from(EngineKind),
    st.sampled_from([None, *(method for method in Method if method is not Method.BASELINE)]),
    st.none() | st.integers(1, 32),
    samplings,
    model=optional_texts,
    draft=optional_texts,
    server_url=optional_texts,
    server_version=optional_texts,
    traced=st.booleans(),
    concurrency=st.integers(1, 1024),
    prompt_set=optional_texts,
    hardware=optional_texts,
    git_revision=optional_texts,
    options=st.dictionaries(texts, texts, max_size=3),
)
# Fixed offsets: in a zone's repeated hour Python calls no time of another zone equal.
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=zones)
runs = st.builds(
    Run,
    st.uuids().map(str),
    texts,
    configs,
    st.sampled_from(RunStatus),
    moments,
    st.none() | moments,
    optional_texts,
)
