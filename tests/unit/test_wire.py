"""Events survive JSON, and fold the same from both sides."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specviz.trace import (
    ROOT,
    Allowed,
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
    StepsRevised,
    TokenDecision,
    TopToken,
    Verdict,
    fold,
)
from specviz.wire import event_from_dict, event_to_dict

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
EMBEDDED = replace(
    STEP,
    spans=(Span(Lane.DRAFT, 0.5, 1.0), Span(Lane.VERIFY, 0.75, 1.5)),
    skipped_layers=("attention 3", "mlp 5"),
    matched_tokens=2,
    allowed=Allowed(2, "min_p"),
)
EVENTS: list[Event] = [
    RequestStarted("r", Fidelity.INFERRED),
    STEP,
    EMBEDDED,
    StepsRevised((STEP, EMBEDDED), Fidelity.COUNTED, "counts"),
    RequestFinished((1, 2), 1.0, 2.0, "stop", ExtraBytes(3 << 40, 2, 0)),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_json(event: Event) -> None:
    assert event_from_dict(json.loads(json.dumps(event_to_dict(event)))) == event


def test_what_an_older_specviz_wrote_is_read() -> None:
    old = event_to_dict(EMBEDDED)
    for key in ("spans", "skipped_layers", "matched_tokens", "allowed"):
        del old[key]
    assert event_from_dict(old) == STEP
    finished = event_to_dict(EVENTS[-1])
    del finished["extra_bytes"]
    assert event_from_dict(finished) == RequestFinished((1, 2), 1.0, 2.0, "stop")


def test_no_skipped_layer_is_not_the_same_as_not_told() -> None:
    none_skipped = replace(STEP, skipped_layers=())
    assert event_from_dict(json.loads(json.dumps(event_to_dict(none_skipped)))) == none_skipped


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
