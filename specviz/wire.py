"""Events as JSON-ready dicts and back: WebSocket, ingest route, files and `--json`.

The keys are the field names of `specviz.trace`; an event carries its `type`. Keys that an older
specviz did not write may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from specviz.trace import (
    Allowed,
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
    SpecTotals,
    Step,
    StepsRevised,
    TokenDecision,
    TopToken,
    Verdict,
)

Json = dict[str, Any]


def event_to_dict(event: Event) -> Json:
    """One event as a dict with its `type`: started, step, revised or finished."""
    if isinstance(event, Step):
        return {"type": "step", **step_to_dict(event)}
    if isinstance(event, RequestStarted):
        return {"type": "started", **asdict(event)}
    if isinstance(event, StepsRevised):
        return {
            "type": "revised",
            "steps": [step_to_dict(step) for step in event.steps],
            "fidelity": event.fidelity.value,
            "reason": event.reason,
        }
    return {"type": "finished", **asdict(event)}


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """The event that `event_to_dict` wrote. Raises ValueError or KeyError on anything else."""
    kind = data.get("type")
    if kind == "step":
        return step_from_dict(data)
    if kind == "started":
        return RequestStarted(str(data["request_id"]), Fidelity(data["fidelity"]))
    if kind == "revised":
        steps = tuple(step_from_dict(step) for step in data["steps"])
        return StepsRevised(steps, Fidelity(data["fidelity"]), str(data["reason"]))
    if kind == "finished":
        return RequestFinished(
            tuple(data["prompt_token_ids"]),
            data["ttft_ms"],
            data["e2el_ms"],
            data["finish_reason"],
            _extra_bytes(data),
            _totals(data),
        )
    raise ValueError(f"unknown event type {kind!r}")


def step_to_dict(step: Step) -> Json:
    """A step with its drafted and emitted tokens as nested dicts."""
    return asdict(step)


def step_from_dict(data: Mapping[str, Any]) -> Step:
    """The step that `step_to_dict` wrote."""
    skipped = data.get("skipped_layers")
    return Step(
        index=data["index"],
        elapsed_ms=data["elapsed_ms"],
        drafted=tuple(_decision_from_dict(token) for token in data["drafted"]),
        emitted=tuple(_emitted_from_dict(token) for token in data["emitted"]),
        draft_ms=data.get("draft_ms"),
        verify_ms=data.get("verify_ms"),
        wall_ms=data.get("wall_ms"),
        spans=tuple(_span_from_dict(span) for span in data.get("spans") or ()),
        skipped_layers=None if skipped is None else tuple(skipped),
        matched_tokens=data.get("matched_tokens"),
        allowed=_allowed(data),
    )


def _decision_from_dict(data: Mapping[str, Any]) -> TokenDecision:
    fields = dict(data)
    fields["verdict"] = Verdict(fields["verdict"])
    fields["target_top"] = tuple(TopToken(**top) for top in fields.get("target_top") or ())
    return TokenDecision(**fields)


def _emitted_from_dict(data: Mapping[str, Any]) -> EmittedToken:
    return EmittedToken(
        **{
            **data,
            "origin": Origin(data["origin"]),
            "channel": Channel(data.get("channel", Channel.ANSWER)),
        }
    )


def _span_from_dict(data: Mapping[str, Any]) -> Span:
    return Span(**{**data, "lane": Lane(data["lane"])})


def _allowed(data: Mapping[str, Any]) -> Allowed | None:
    allowed = data.get("allowed")
    return None if allowed is None else Allowed(**allowed)


def _extra_bytes(data: Mapping[str, Any]) -> ExtraBytes | None:
    extra = data.get("extra_bytes")
    return None if extra is None else ExtraBytes(**extra)


def _totals(data: Mapping[str, Any]) -> SpecTotals | None:
    totals = data.get("totals")
    return None if totals is None else SpecTotals(**totals)
