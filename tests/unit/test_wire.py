"""Events survive JSON, and fold the same from both sides."""

from __future__ import annotations

import json

import pytest

from specviz.trace import (
    ROOT,
    EmittedToken,
    Event,
    Fidelity,
    Origin,
    RequestFinished,
    RequestStarted,
    Step,
    StepsRevised,
    TokenDecision,
    TopToken,
    Verdict,
    fold,
)
from specviz.wire import event_from_dict, event_to_dict, trace_from_dict, trace_to_dict

DECISION = TokenDecision(
    1,
    ROOT,
    5,
    "\u202ex\x1b[0m<b>",
    Verdict.REJECTED,
    0.5,
    0.25,
    0.5,
    0.75,
    (TopToken(6, "y", 0.5),),
)
STEP = Step(0, 1.5, (DECISION,), (EmittedToken(0, 6, "y", Origin.RECOVERED),), 1.0, 2.0, 3.0)
EVENTS: list[Event] = [
    RequestStarted("r", Fidelity.INFERRED),
    STEP,
    StepsRevised((STEP, STEP), Fidelity.COUNTED, "counts"),
    RequestFinished((1, 2), 1.0, 2.0, "stop"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_json(event: Event) -> None:
    assert event_from_dict(json.loads(json.dumps(event_to_dict(event)))) == event


def test_a_trace_survives_json() -> None:
    trace = fold(EVENTS)
    assert trace_from_dict(json.loads(json.dumps(trace_to_dict(trace)))) == trace


def test_revised_steps_replace_what_came_before() -> None:
    trace = fold(EVENTS)
    assert len(trace.steps) == 2
    assert trace.fidelity is Fidelity.COUNTED


def test_an_incomplete_request_folds_too() -> None:
    trace = fold(EVENTS[:2])
    assert trace.finish_reason is None
    assert trace.text == "y"


def test_events_without_a_start_are_an_error() -> None:
    with pytest.raises(ValueError, match="RequestStarted"):
        fold([STEP])


def test_an_unknown_event_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown event"):
        event_from_dict({"type": "surprise"})
