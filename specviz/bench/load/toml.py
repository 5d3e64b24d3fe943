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

from collections.abc import Callable
from pathlib import Path
from typing import Any

from specviz.bench.load import toml_values as toml
from specviz.bench.load.load import Load
from specviz.bench.load.recorded import arrival_of, read_arrivals
from specviz.bench.load.toml_values import Table
from specviz.bench.load.traffic import (
    DEFAULT_PHASE_S,
    REQUESTS_PER_STREAM,
    Arrival,
    Phase,
    Traffic,
    ramp,
)
from specviz.errors import UsageError

SHAPES = {
    "ramp": {"ramp", "requests_per_stream"},
    "phases": {"phases"},
    "arrivals": {"arrivals", "phase_s"},
}
"""What says how the load changes, and the settings that go with it."""
ANY_SHAPE = {"name", "temperatures"}
PHASE_KEYS: dict[str, Callable[[Any, str], Any]] = {
    "concurrency": toml.whole_number,
    "requests": toml.whole_number,
    "request_rate": toml.number,
    "seconds": toml.number,
}
"""The settings of a phase, and how each is checked."""


def traffic_of(table: Table, where: str, folder: Path | None) -> Traffic:
    """One [[traffic]] table; `folder`: where a relative path starts. Raises UsageError."""
    shapes = [shape for shape in SHAPES if shape in table]
    if len(shapes) != 1:
        raise UsageError(f"{where} needs one of {', '.join(SHAPES)}.")
    toml.check_keys(table, SHAPES[shapes[0]] | ANY_SHAPE, where)
    return Traffic(
        name=toml.text(table.get("name", where), f"name of {where}"),
        phases=_phases(table, where),
        temperatures=toml.numbers(table.get("temperatures", [0.0]), f"temperatures of {where}"),
        arrivals=_arrivals(table, where, folder),
        phase_s=toml.number(table.get("phase_s", DEFAULT_PHASE_S), f"phase_s of {where}"),
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
        ends = toml.whole_numbers(table["ramp"], f"ramp of {where}")
        each = table.get("requests_per_stream", REQUESTS_PER_STREAM)
        return ramp(ends, toml.whole_number(each, f"requests_per_stream of {where}"))
    given = toml.array(table.get("phases", []), f"phases of {where}")
    return tuple(
        _phase(phase, f"phase {number} of {where}") for number, phase in enumerate(given, start=1)
    )


def _phase(given: Any, where: str) -> Phase:
    if not isinstance(given, dict):
        raise UsageError(f"{where} must be a table such as {{ concurrency = 4, requests = 16 }}.")
    toml.check_keys(given, PHASE_KEYS.keys(), where)
    for name, value in given.items():
        PHASE_KEYS[name](value, f"{name} of {where}")
    try:
        load = Load(given.get("concurrency"), given.get("request_rate"))
        return Phase(load, given.get("requests"), given.get("seconds"))
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
