"""Lines of the history for its tests, written straight into the tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from duckdb import DuckDBPyConnection

from specviz.config import EngineKind, RunConfig
from specviz.methods import Method
from specviz.store import Store
from specviz.store.history.edits import delete, rename, tag, write_note
from specviz.store.history.line import Item, Kind
from specviz.store.runs.tables import insert
from tests.support.store.samples import new_run, record, request_events

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass(frozen=True)
class MadeLine:
    """One line, as plain Python."""

    item: Item
    at: datetime
    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    fidelities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ("finished",)
    tags: tuple[str, ...] = ()
    name: str = ""
    note: str = ""
    prompts: tuple[str, ...] = ()
    deleted: bool = False
    group_id: str = ""  # of a run; empty: a group of its own

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.item.kind.value,)


def put(store: Store, *lines: MadeLine) -> None:
    """Write lines with everything under them, and delete those that are to be."""

    def write(cursor: DuckDBPyConnection) -> None:
        for line in lines:
            _insert(cursor, line)
        delete(cursor, [line.item for line in lines if line.deleted], NOON)

    store.write(write)


def _insert(cursor: DuckDBPyConnection, line: MadeLine) -> None:
    item = line.item
    if item.kind is Kind.TOOL_RESULT:
        _insert_elsewhere(cursor, line)
    elif item.kind is Kind.BENCHMARK:
        insert_benchmark(cursor, item.item_id, line.at, line.name, line.statuses[0])
        for place, method in enumerate(line.methods):
            _insert_run(cursor, line, f"{item.item_id}-{place}", method, item.item_id)
    else:
        group_id = line.group_id or f"group {item.item_id}"
        _insert_run(cursor, line, item.item_id, line.methods[0], group_id)
        rename(cursor, item, line.name)
    write_note(cursor, [item], line.note)
    tag(cursor, [item], line.tags)


def insert_benchmark(
    cursor: DuckDBPyConnection, benchmark_id: str, at: datetime, name: str, status: str
) -> None:
    row = {"benchmark_id": benchmark_id, "name": name, "plan_toml": "", "status": status,
           "started_at": at.replace(tzinfo=None), "planned": 1, "servers_at_once": 1,
           "specviz_version": "0.1"}  # fmt: skip
    insert(cursor, "benchmarks", row)


def _insert_elsewhere(cursor: DuckDBPyConnection, line: MadeLine) -> None:
    row = {"elsewhere_id": line.item.item_id, "name": line.name, "tool": "vllm bench serve",
           "file_name": "f.json", "file_sha256": "0", "imported_at": line.at.replace(tzinfo=None),
           "method": line.methods[0], "model": line.models[0], "server": line.servers[0],
           "num_requests": 7, "document": "{}"}  # fmt: skip
    insert(cursor, "elsewhere", row)


def _insert_run(
    cursor: DuckDBPyConnection, line: MadeLine, run_id: str, method: str, group_id: str
) -> None:
    at = line.at.replace(tzinfo=None)
    embedded = line.servers == ("in the app",)
    row = {"run_id": run_id, "group_id": group_id, "status": line.statuses[0], "started_at": at,
           "engine": "embedded" if embedded else "vllm", "method": method,
           "model": line.models[0], "server_url": None if embedded else line.servers[0],
           "traced": True, "temperature": 0.0, "top_p": 1.0, "max_tokens": 9, "concurrency": 1,
           "options": "{}", "specviz_version": "0.1"}  # fmt: skip
    insert(cursor, "runs", row)
    for place, prompt in enumerate(line.prompts):
        category = line.categories[place % len(line.categories)] if line.categories else None
        fidelity = line.fidelities[place % len(line.fidelities)] if line.fidelities else None
        row = {"request_id": f"{run_id} {place}", "run_id": run_id, "status": "finished",
               "started_at": at + timedelta(seconds=place), "prompt": prompt,
               "category": category, "fidelity": fidelity, "num_steps": 10,
               "num_draft_tokens": 40, "num_accepted_tokens": 10 + place, "output_tokens": 20,
               "e2el_ms": 1000.0}  # fmt: skip
        insert(cursor, "requests", row)


def store_run(store: Store, run_id: str, steps: int = 2, group_id: str | None = None) -> Item:
    """A recorded run with its request, steps and decisions."""
    config = RunConfig(EngineKind.EMBEDDED, Method.DRAFT_MODEL, k=3)
    run = new_run(run_id=run_id, group_id=group_id or run_id, config=config, started_at=NOON)
    record(store, run, request_events(steps, f"request of {run_id}"))
    return Item(Kind.RUN, run_id)
