"""Traffic as TOML.

```toml
[[traffic]]
name = "1 to 16 and back"
ramp = [1, 16, 1]                  # concurrency, doubled and halved on the way
requests_per_stream = 4            # a phase sends 4 × its concurrency
temperatures = [0.0, 0.7, 1.3]     # each request has one of them

[[traffic]]
name = "Steps"
phases = [{ concurrency = 2, requests = 12 }, { request_rate = 4.0, seconds = 30.0 }]

[[traffic]]
name = "Monday"
arrivals = "monday.jsonl"          # see `recorded.py`
phase_s = 60.0                     # results by windows of this length
```

A ramp is written back as its phases and a file as its arrivals, so that a stored plan is complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.bench.load.load import Load
from specviz.bench.load.recorded import arrival_of, read_arrivals
from specviz.bench.load.traffic import (
    DEFAULT_PHASE_S,
    REQUESTS_PER_STREAM,
    Arrival,
    Phase,
    Traffic,
    ramp,
)
from specviz.errors import UsageError

Table = Mapping[str, Any]

SHAPES = {
    "ramp": {"ramp", "requests_per_stream"},
    "phases": {"phases"},
    "arrivals": {"arrivals", "phase_s"},
}
"""What says how the load changes, and the settings that go with it."""
ANY_SHAPE = {"name", "temperatures"}
PHASE_KEYS = {"concurrency", "requests", "request_rate", "seconds"}


def traffic_of(table: Table, where: str, folder: Path | None) -> Traffic:
    """One [[traffic]] table; `folder`: where a relative path starts. Raises UsageError."""
    shapes = [shape for shape in SHAPES if shape in table]
    if len(shapes) != 1:
        raise UsageError(f"{where} needs one of {', '.join(SHAPES)}.")
    known = SHAPES[shapes[0]] | ANY_SHAPE
    if unknown := sorted(table.keys() - known):
        raise UsageError(
            f"{where} has no setting {unknown[0]!r}: use one of {', '.join(sorted(known))}."
        )
    name = table.get("name", where)
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"name of {where} must be text.")
    return Traffic(
        name=name,
        phases=_phases(table, where),
        temperatures=tuple(_numbers(table.get("temperatures", [0.0]), f"temperatures of {where}")),
        arrivals=_arrivals(table, where, folder),
        phase_s=_number(table.get("phase_s", DEFAULT_PHASE_S), f"phase_s of {where}"),
    )


def traffic_table(traffic: Traffic) -> dict[str, Any]:
    """A table that `traffic_of` reads back as the same traffic."""
    table: dict[str, Any] = {"name": traffic.name, "temperatures": list(traffic.temperatures)}
    if traffic.phases:
        table["phases"] = [_phase_table(phase) for phase in traffic.phases]
    else:
        table |= {"phase_s": traffic.phase_s}
        table["arrivals"] = [_arrival_value(one) for one in traffic.arrivals]
    return table


def _phases(table: Table, where: str) -> tuple[Phase, ...]:
    if "ramp" in table:
        ends = _whole_numbers(table["ramp"], f"ramp of {where}")
        each = table.get("requests_per_stream", REQUESTS_PER_STREAM)
        return ramp(ends, _whole_numbers([each], f"requests_per_stream of {where}")[0])
    given = table.get("phases", [])
    if not isinstance(given, list):
        raise UsageError(f"phases of {where} must be a list.")
    return tuple(
        _phase(phase, f"phase {number} of {where}") for number, phase in enumerate(given, start=1)
    )


def _phase(table: Any, where: str) -> Phase:
    if not isinstance(table, dict):
        raise UsageError(f"{where} must be a table such as {{ concurrency = 4, requests = 16 }}.")
    if unknown := sorted(table.keys() - PHASE_KEYS):
        raise UsageError(
            f"{where} has no setting {unknown[0]!r}: use some of {', '.join(sorted(PHASE_KEYS))}."
        )
    for name in ("concurrency", "requests"):
        if name in table:
            _whole_numbers([table[name]], f"{name} of {where}")
    for name in ("request_rate", "seconds"):
        if name in table:
            _number(table[name], f"{name} of {where}")
    try:
        load = Load(table.get("concurrency"), table.get("request_rate"))
        return Phase(load, table.get("requests"), table.get("seconds"))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _phase_table(phase: Phase) -> dict[str, Any]:
    values = {
        "concurrency": phase.load.concurrency,
        "requests": phase.requests,
        "request_rate": phase.load.request_rate,
        "seconds": phase.seconds,
    }
    return {name: value for name, value in values.items() if value is not None}


def _arrivals(table: Table, where: str, folder: Path | None) -> tuple[Arrival, ...]:
    given = table.get("arrivals", [])
    if isinstance(given, str):
        path = Path(given).expanduser()
        return read_arrivals(folder / path if folder else path)
    if not isinstance(given, list):
        raise UsageError(f"arrivals of {where} must be the name of a file.")
    return tuple(
        arrival_of(value, f"arrival {number} of {where}")
        for number, value in enumerate(given, start=1)
    )


def _arrival_value(arrival: Arrival) -> float | dict[str, Any]:
    values = {"temperature": arrival.temperature, "category": arrival.category}
    known = {name: value for name, value in values.items() if value is not None}
    return {"at_s": arrival.at_s, **known} if known else arrival.at_s


def _whole_numbers(values: Any, name: str) -> list[int]:
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise UsageError(f"{name} must be whole numbers.")
    return values


def _numbers(values: Any, name: str) -> list[float]:
    if not isinstance(values, list):
        raise UsageError(f"{name} must be a list of numbers.")
    return [_number(value, name) for value in values]


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{name} must be a number.")
    return float(value)
