"""Every run, kept in DuckDB: one process owns the file, or many share a lake; one thread writes."""

from specviz.store.benchmark_log import BenchmarkLog
from specviz.store.benchmark_rows import ArmRow, BenchmarkRow, DoneRequest, RoundRow, SampleRow
from specviz.store.ingest_client import RemoteStore, post_run
from specviz.store.location import Lake, Location, default_location
from specviz.store.owner import StoreBusy
from specviz.store.recorder import Recorder, RunSink
from specviz.store.run_json import (
    RecordedRequest,
    prompt_from_dict,
    prompt_to_dict,
    recording_from_dict,
    recording_to_dict,
    run_from_dict,
    run_to_dict,
)
from specviz.store.runs import RequestRow, RunRow
from specviz.store.store import Store, open_store

__all__ = [
    "ArmRow",
    "BenchmarkLog",
    "BenchmarkRow",
    "DoneRequest",
    "Lake",
    "Location",
    "RecordedRequest",
    "Recorder",
    "RemoteStore",
    "RequestRow",
    "RoundRow",
    "RunRow",
    "RunSink",
    "SampleRow",
    "Store",
    "StoreBusy",
    "default_location",
    "open_store",
    "post_run",
    "prompt_from_dict",
    "prompt_to_dict",
    "recording_from_dict",
    "recording_to_dict",
    "run_from_dict",
    "run_to_dict",
]
