"""What is read back equals what was written."""

import json
import uuid
from dataclasses import replace
from datetime import datetime
from math import inf, nextafter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest import approx

from specviz.analysis.metrics import summarise
from specviz.config import Prompt, Run, RunStatus
from specviz.engines.replay import events_of
from specviz.store import Store, run_from_dict, run_to_dict
from specviz.store.exchange import Format
from specviz.store.runs.arrow import decision_table
from specviz.store.runs.runs import read_requests, read_run, read_trace
from specviz.trace import (
    EmittedToken,
    Fidelity,
    Origin,
    RequestFinished,
    RequestStarted,
    SpecTotals,
    Step,
    StepsRevised,
    Trace,
    fold,
)
from tests.support.properties import share
from tests.support.store.round_trip import assert_round_trip
from tests.support.store.samples import (
    new_run,
    prompts,
    record,
    request_events,
    runs,
    step,
    step_lists,
    traces,
)

many = settings(share(0.5), suppress_health_check=list(HealthCheck))


@many
@given(traces(), prompts)
def test_any_trace_is_read_as_it_was_written(
    shared_store: Store, trace: Trace, prompt: Prompt
) -> None:
    run = new_run()
    shared_store.start_run(run)
    recorder = shared_store.recorder(run.run_id, prompt)
    for event in events_of(trace):
        recorder.append(event)
    assert recorder.trace == trace
    recorder.finish(RunStatus.FINISHED)
    assert shared_store.read(read_trace, trace.request_id) == trace
    (row,) = shared_store.read(read_requests, run.run_id)
    assert (row.prompt, row.output_text) == (prompt, trace.text)
    assert (row.side_text or "") == trace.side_text


@many
@given(step_lists(), step_lists())
def test_revised_steps_replace_what_was_saved(
    shared_store: Store, first: tuple[Step, ...], second: tuple[Step, ...]
) -> None:
    run = new_run()
    shared_store.start_run(run)
    recorder = shared_store.recorder(run.run_id, Prompt("p"))
    events = [
        RequestStarted(run.run_id, Fidelity.INFERRED),
        *first,
        StepsRevised(second, Fidelity.COUNTED, "counts came late"),
    ]
    for event in events:
        recorder.append(event)
    recorder.finish(RunStatus.PARTIAL)
    assert shared_store.read(read_trace, run.run_id) == fold(events)


@many
@given(runs)
def test_any_run_is_read_as_it_was_written(shared_store: Store, run: Run) -> None:
    run = replace(run, run_id=uuid.uuid4().hex)
    shared_store.start_run(run)
    assert shared_store.read(read_run, run.run_id) == run


@many
@given(runs)
def test_a_run_survives_json(run: Run) -> None:
    assert run_from_dict(json.loads(json.dumps(run_to_dict(run)))) == run


def test_steps_saved_in_several_flushes_are_revised_too(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    recorder = store.recorder(run.run_id, Prompt("p"))
    recorder.append(RequestStarted("r", Fidelity.INFERRED))
    recorder.append(step(0))
    store.start_run(new_run())  # commits what is queued
    assert len(store.read(read_trace, "r").steps) == 1
    recorder.append(StepsRevised((step(0, accepted=2), step(4)), Fidelity.TRACED))
    recorder.append(step(5))
    recorder.finish(RunStatus.FINISHED)
    assert store.read(read_trace, "r").steps == (step(0, accepted=2), step(4), step(5))
    assert store.read(read_trace, "r").fidelity is Fidelity.TRACED


@given(st.floats(1e-9, 1.0), st.integers(-3, 3))
def test_the_verdict_survives_rounding_to_32_bits(u: float, steps_apart: int) -> None:
    accept_prob = u
    for _ in range(abs(steps_apart)):
        accept_prob = nextafter(accept_prob, inf if steps_apart > 0 else -inf)
    (token, *_) = step(0).drafted
    decided = replace(step(0), drafted=(replace(token, u=u, accept_prob=accept_prob),))
    (row,) = decision_table("r", datetime(2026, 1, 1), [decided]).to_pylist()
    assert (row["u"] <= row["accept_prob"]) == (u <= accept_prob)
    assert (row["u"], row["accept_prob"]) == (approx(u), approx(accept_prob))


def test_half_a_character_is_stored_as_a_replacement_and_harms_nothing(store: Store) -> None:
    odd, good = new_run(), new_run()
    store.start_run(odd)
    recorder = store.recorder(odd.run_id, Prompt("half \ud83d"))
    record(store, good, request_events(2))  # begins in the same transaction
    recorder.finish(RunStatus.FAILED)
    assert store.read(read_requests, odd.run_id)[0].prompt.text == "half \ufffd"
    assert store.read(read_run, good.run_id).status is RunStatus.FINISHED


def test_totals_of_a_request_are_read_as_they_were_written(store: Store) -> None:
    """Without a column of their own: they are the figures of a request whose steps are inferred."""
    for token_id, totals in (
        (7, SpecTotals(num_draft_tokens=10, num_accepted_tokens=6)),
        (None, SpecTotals(10, 6, 4)),
        (None, SpecTotals(num_accepted_tokens=6, num_drafts=4)),
        (None, SpecTotals(tokens_per_step=2.5)),
        (7, None),
    ):
        run = new_run()
        emitted = (EmittedToken(0, token_id, "a", Origin.UNKNOWN),)
        events = [
            RequestStarted(run.run_id, Fidelity.INFERRED),
            Step(0, 10.0, (), emitted),
            RequestFinished((1,), 10.0, 10.0, "stop", totals=totals),
        ]
        record(store, run, events)
        assert store.read(read_trace, run.run_id) == fold(events)
        (row,) = store.read(read_requests, run.run_id)
        assert row.metrics == summarise(fold(events))
    assert_round_trip(store, (Format.JSONL,))
