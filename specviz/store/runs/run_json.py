"""Runs and recorded requests as JSON-ready dicts and back; the keys are the field names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_type_hints

from specviz.config import Message, Prompt, Run, RunStatus
from specviz.errors import UsageError
from specviz.store.runs.recorder import EventLog
from specviz.store.runs.tables import check_types, to_utc
from specviz.trace import Event
from specviz.wire import event_from_dict, event_to_dict

Json = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request of a run that another process has recorded; `started_at` has a time zone."""

    prompt: Prompt
    events: tuple[Event, ...]
    status: RunStatus
    started_at: datetime
    error: str | None = None


def run_to_dict(run: Run) -> Json:
    """A run with its configuration; times in ISO 8601."""
    finished_at = run.finished_at and run.finished_at.isoformat()
    return {**asdict(run), "started_at": run.started_at.isoformat(), "finished_at": finished_at}


def run_from_dict(data: object) -> Run:
    """The run that `run_to_dict` wrote. Raises ValueError with a sentence on anything else."""
    return _parsed(Run, data)


def prompt_to_dict(prompt: Prompt) -> Json:
    return asdict(prompt)


def prompt_from_dict(data: object) -> Prompt:
    """Raises ValueError with a sentence on anything that `prompt_to_dict` did not write."""
    return _parsed(Prompt, data)


def recording_to_dict(run: Run, requests: Sequence[RecordedRequest]) -> Json:
    """The body of `POST /api/ingest`."""
    return {
        "run": run_to_dict(run),
        "requests": [
            {
                "prompt": prompt_to_dict(request.prompt),
                "events": [event_to_dict(event) for event in request.events],
                "status": request.status.value,
                "started_at": request.started_at.isoformat(),
                "error": request.error,
            }
            for request in requests
        ],
    }


def recording_from_dict(data: object) -> tuple[Run, tuple[RecordedRequest, ...]]:
    """What `recording_to_dict` wrote. Raises ValueError with a sentence on anything else."""
    if not isinstance(data, Mapping) or not isinstance(data.get("requests"), list):
        raise ValueError('a recording is an object with "run" and a list "requests".')
    requests = tuple(_parsed(RecordedRequest, request) for request in data["requests"])
    return run_from_dict(data.get("run")), requests


def _parsed(kind: type[T], data: object) -> T:
    """A dataclass from its dict, each value checked against the field's type."""
    noun = kind.__name__
    if not isinstance(data, Mapping):
        raise ValueError(f"{noun} must be an object, not {data!r}.")
    hints = get_type_hints(kind)
    unknown = data.keys() - hints.keys()
    if unknown:
        raise ValueError(f"{noun} has no field {min(map(str, unknown))!r}.")
    try:
        return kind(**{name: _value(hints[name], value) for name, value in data.items()})
    except (KeyError, TypeError, UsageError, ValueError) as error:
        raise ValueError(f"{noun} cannot be read: {error}") from error


def _value(hint: Any, value: Any) -> Any:
    hints = set(get_args(hint)) if isinstance(hint, UnionType) else {hint}
    if value is None and NoneType in hints:
        return None
    (plain,) = hints - {NoneType}
    if plain in _PARSERS:
        return _PARSERS[plain](value)
    if is_dataclass(plain):
        return _parsed(cast(type, plain), value)
    if issubclass(plain, Enum):
        return plain(value)
    if type(value) is plain or (plain is float and type(value) is int):
        return value
    raise ValueError(f"{value!r} is not of type {plain.__name__}")


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    to_utc(moment)  # refuses a time without a zone
    return moment


def _texts(value: Any) -> dict[str, str]:
    texts = dict(value)
    if not all(isinstance(text, str) for pair in texts.items() for text in pair):
        raise ValueError("options must be text")
    return texts


def _events(value: Any) -> tuple[Event, ...]:
    log = EventLog()
    for event in value:
        if not isinstance(event, Mapping):
            raise ValueError(f"an event must be an object, not {event!r}")
        log.append(event_from_dict(event))
    if log.trace is not None:
        check_types(log.trace)
    return tuple(log.events)


_PARSERS: dict[Any, Callable[[Any], Any]] = {
    datetime: _moment,
    dict[str, str]: _texts,
    tuple[Event, ...]: _events,
    tuple[Message, ...]: lambda value: tuple(_parsed(Message, message) for message in value),
}
