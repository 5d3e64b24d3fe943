"""Long operations on a real database, each in a forked process that somebody will kill.

Run as a program, it imports everything once, reads one operation a line from stdin and forks for
each, so that a kill costs no start of Python. The operation appends what is confirmed to `log`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specviz.bench.board import BenchBoard
from specviz.bench.plan.plan import Plan
from specviz.config import Prompt, RunConfig, Sampling
from specviz.live.measuring_lock import MeasuringLock
from specviz.live.record import answer
from specviz.opening import TimedArm
from specviz.prompts.sets import PromptSource
from specviz.servers.vllm.tracing.spool import SpoolWriter, open_folder
from specviz.store import Store, open_store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.exchange import Format, export, import_file
from specviz.store.history.edits import delete, remove
from specviz.store.history.line import Item, Kind
from specviz.trace import Event
from tests.support.bench.plans import BASELINE
from tests.support.bench.samples import FakeEngine
from tests.support.store.samples import new_run, request_events

STEPS = 12
PROMPTS = 40


@dataclass(frozen=True)
class Place:
    """The folder of one kill."""

    folder: Path

    @property
    def db(self) -> Path:
        return self.folder / "runs.duckdb"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    def confirm(self, *words: str) -> None:
        """One line, which outlives the process once this returns."""
        with self.log.open("a") as log:
            log.write(" ".join(words) + "\n")

    def confirmed(self) -> list[list[str]]:
        return [line.split() for line in self.log.read_text().splitlines()]


def import_parquet(place: Place) -> None:
    _import(place, "all.zip")


def import_lines(place: Place) -> None:
    _import(place, "all.jsonl")


def _import(place: Place, name: str) -> None:
    with open_store(place.db) as store:
        place.confirm("began")
        import_file(store, place.folder / name)
        place.confirm("imported")


def export_parquet(place: Place) -> None:
    _export(place, Format.PARQUET)


def export_lines(place: Place) -> None:
    _export(place, Format.JSONL)


def _export(place: Place, kind: Format) -> None:
    with open_store(place.db) as store:
        place.confirm("began")
        export(store, None, kind, place.folder / "exported")
        place.confirm("exported")


def migration(place: Place) -> None:
    place.confirm("began")
    with open_store(place.db):
        place.confirm("migrated")


def deletion(place: Place) -> None:
    """Delete each run that is no part of a benchmark, then remove it permanently."""
    with open_store(place.db) as store:
        place.confirm("began")
        for run_id in (one for one in run_ids(store) if not one.startswith("cell-")):
            item = Item(Kind.RUN, run_id)
            store.write(delete, [item], datetime.now(UTC))
            place.confirm("deleted", run_id)
            store.write(remove, [item])
            place.confirm("removed", run_id)


class Scripted:
    """An engine that answers with a step every few milliseconds."""

    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncIterator[Event]:
        for event in request_events(STEPS):
            await asyncio.sleep(0.004)
            yield event


def live(place: Place) -> None:
    """Runs as a live job stores them, one after another."""
    with open_store(place.db) as store:
        place.confirm("began")
        for index in range(10):
            run = new_run(run_id=f"live-{index}")
            engine: Any = Scripted()
            outcome = asyncio.run(answer(engine, run, Prompt("p"), store, lambda event: None))
            place.confirm("answered", run.run_id, outcome.status)


def benchmark(place: Place) -> None:
    """Started, or gone on with, until it is finished."""
    prompts = place.folder / "prompts.jsonl"
    lines = [{"question_id": index, "turns": [f"Count to {index}."]} for index in range(PROMPTS)]
    prompts.write_text("\n".join(map(json.dumps, lines)))
    with open_store(place.db) as store:
        place.confirm("began")
        board = BenchBoard(store, MeasuringLock(), _arms)
        found = store.read(read_benchmarks)
        if not found:
            source = PromptSource(file=str(prompts), format="spec-bench")
            benchmark_id = board.start(Plan("Killed", (BASELINE,), source, warmup=0, repetitions=2))
        elif found[0].status != "finished":
            benchmark_id = found[0].benchmark_id
            board.resume(benchmark_id)
        else:
            return
        while not board.wait(benchmark_id, 1.0):
            pass
        board.close()


@contextmanager
def _arms() -> Iterator[Any]:
    async def open_arm(config: RunConfig, note: Any) -> TimedArm:
        return FakeEngine(seconds=0.01).opened(config)

    yield open_arm


def spool(place: Place) -> None:
    """The worker of a tracing server in the middle of two streams."""
    folder = open_folder()
    writer = SpoolWriter(folder)
    place.confirm("began")
    for index in range(2000):
        for key in ("a" * 32, "b" * 32):
            writer.append(key, lambda index=index: {"step": index, "text": "x" * 200})
        time.sleep(0.0002)
    place.confirm("streamed")


OPERATIONS: dict[str, Callable[[Place], None]] = {
    operation.__name__: operation
    for operation in (
        *(import_parquet, import_lines, export_parquet, export_lines),
        *(migration, deletion, live, benchmark, spool),
    )
}


def run_ids(store: Store) -> list[str]:
    return store.read(
        lambda cursor: [
            row[0] for row in cursor.execute("SELECT run_id FROM runs ORDER BY 1").fetchall()
        ]
    )


def _forked(operation: str, place: Place) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        tempfile.tempdir = str(place.temporary)
        OPERATIONS[operation](place)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def main() -> None:
    """Lines in: operation and folder; `kill`. Lines out: a process id; its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pid = 0
    for line in sys.stdin:
        words = json.loads(line)
        if words == ["end"]:
            _, status = os.waitpid(pid, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
        else:
            pid = _forked(words[0], Place(Path(words[1])))
            print(pid, flush=True)


if __name__ == "__main__":
    main()
