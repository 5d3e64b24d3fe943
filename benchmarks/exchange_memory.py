"""The memory that exports and imports take: many decisions, and answers that are very long.

Each one runs in a process of its own on a database of its own; its memory is the most that the
process ever held (VmHWM), next to what it held when its database was open. Long answers are random
letters in one chunk each: what DuckDB has to hold of a text is not made smaller by packing it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import tempfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.history_scale.made_history import batches, put
from benchmarks.results_file import add_save_option, save
from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.machine import hardware_summary
from specviz.methods import Method
from specviz.store import Store, open_store
from specviz.store.exchange import Format, export, import_file
from specviz.store.exchange.expansion import check_tables, measuring
from specviz.store.runs.run_json import RecordedRequest
from specviz.trace import EmittedToken, Fidelity, Origin, RequestFinished, RequestStarted, Step

DECISIONS = 500_000
ANSWERS, ANSWER_BYTES = 10, 10_000_000
KINDS = (Format.PARQUET, Format.JSONL)

Figures = dict[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=DECISIONS)
    parser.add_argument("--answers", type=int, default=ANSWERS, help="each of 10 MB")
    add_save_option(parser, "exchange_memory")
    asked = parser.parse_args()
    print(hardware_summary())
    found = {
        f"{asked.decisions:,} decisions": measured(partial(put_decisions, asked.decisions)),
        f"{asked.answers:,} answers of 10 MB": measured(partial(put_answers, asked.answers)),
    }
    if asked.save:
        save(asked.save, {"data": found})


def measured(fill: Callable[[Store], None]) -> dict[str, object]:
    """What the store takes, and each export and import of it."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        in_own_process(figures_of, fill, work / "runs.duckdb")
        found: dict[str, Figures] = {}
        for kind in KINDS:
            file = work / f"file.{kind}"
            wrote = in_own_process(figures_of, partial(written, kind, file), work / "runs.duckdb")
            read = in_own_process(figures_of, partial(taken, file), work / f"{kind}.duckdb")
            for name, figures in ((f"export {kind}", wrote), (f"import {kind}", read)):
                found[name] = figures | {"file_bytes": file.stat().st_size}
                print(name, figures)
        size = in_own_process(expanded, work / f"file.{Format.PARQUET}", work)
        return {"bytes": size, "done": found}


def in_own_process(do: Callable[..., Any], *given: object) -> Any:
    """A fork: this process itself takes nothing that a child would begin with."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(do, given)


def figures_of(do: Callable[[Store], None], database: Path) -> Figures:
    """Bytes of memory before and at most."""
    with open_store(database) as store:
        before = memory("VmRSS")
        do(store)
    return {"before_bytes": before, "peak_bytes": memory("VmHWM")}


def memory(name: str) -> int:
    """Bytes of this process, as Linux counts them."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


def written(kind: Format, file: Path, store: Store) -> None:
    export(store, None, kind, file)


def taken(file: Path, store: Store) -> None:
    import_file(store, file)


def expanded(file: Path, work: Path) -> int:
    """Bytes of all values of a Parquet export, by which imports are bounded."""
    with zipfile.ZipFile(file) as archive:
        archive.extractall(work / "tables")
    tables = {path.stem: path for path in (work / "tables").glob("*.parquet")}
    with measuring() as connection:
        return check_tables(connection, tables, file.stat().st_size)


def put_decisions(decisions: int, store: Store) -> None:
    for batch in batches(decisions):
        put(store, batch)


def put_answers(answers: int, store: Store) -> None:
    config = RunConfig(EngineKind.EMBEDDED, Method.BASELINE)
    began = datetime.now(UTC)
    run = Run("long", "long", config, RunStatus.FINISHED, began, began)
    store.ingest(run, [answer(number, began) for number in range(answers)])


def answer(number: int, began: datetime) -> RecordedRequest:
    text = random.Random(number).randbytes(ANSWER_BYTES // 2).hex()
    chunk = EmittedToken(0, None, text, Origin.UNKNOWN)
    events = (
        RequestStarted(f"answer-{number}", Fidelity.INFERRED),
        Step(0, 1.0, (), (chunk,)),
        RequestFinished((), 1.0, 2.0, "stop"),
    )
    sent = began + timedelta(seconds=number)
    return RecordedRequest(Prompt("Go on."), events, RunStatus.FINISHED, sent)


if __name__ == "__main__":
    main()
