"""Stores every run in DuckDB: one process owns the file, or many share a lake; one thread writes.

Reading is `store.read(read_run, run_id)`, changing `store.write(rename, item, name)`: the functions
are in the rooms, where each takes a cursor first. Found here is what many need, imported when it is
asked for: the process of users' SQL starts without the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specviz.store.benchmarks.log import BenchmarkLog
    from specviz.store.benchmarks.rows import (
        ArmRow,
        BenchmarkRow,
        BlockRow,
        DisturbedRow,
        DoneRequest,
        RoundRow,
        SampleRow,
    )
    from specviz.store.location import Lake, Location, default_location
    from specviz.store.owner import StoreBusy
    from specviz.store.runs.recorder import Recorder, RunSink
    from specviz.store.runs.run_json import (
        RecordedRequest,
        prompt_from_dict,
        prompt_to_dict,
        recording_from_dict,
        recording_to_dict,
        run_from_dict,
        run_to_dict,
    )
    from specviz.store.runs.runs import RequestRow
    from specviz.store.store import Store, open_store

__all__ = [
    "ArmRow",
    "BenchmarkLog",
    "BenchmarkRow",
    "BlockRow",
    "DisturbedRow",
    "DoneRequest",
    "Lake",
    "Location",
    "RecordedRequest",
    "Recorder",
    "RequestRow",
    "RoundRow",
    "RunSink",
    "SampleRow",
    "Store",
    "StoreBusy",
    "default_location",
    "open_store",
    "prompt_from_dict",
    "prompt_to_dict",
    "recording_from_dict",
    "recording_to_dict",
    "run_from_dict",
    "run_to_dict",
]

_PLACES = {
    "benchmarks.log": "BenchmarkLog",
    "benchmarks.rows": "ArmRow BenchmarkRow BlockRow DisturbedRow DoneRequest RoundRow SampleRow",
    "location": "Lake Location default_location",
    "owner": "StoreBusy",
    "runs.recorder": "Recorder RunSink",
    "runs.run_json": "RecordedRequest prompt_from_dict prompt_to_dict recording_from_dict "
    "recording_to_dict run_from_dict run_to_dict",
    "runs.runs": "RequestRow",
    "store": "Store open_store",
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACE_OF[name]}"), name)
