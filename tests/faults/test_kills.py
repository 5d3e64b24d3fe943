"""Kill −9 at random moments of everything that takes long; then it is opened again.

Nothing that was confirmed is lost, nothing is there twice, and nothing is in the way: no process,
no lock, no folder.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from specviz.config import RunStatus
from specviz.servers.vllm.tracing.spool import FOLDER_PREFIX, remove_abandoned_folders
from specviz.store import open_store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.exchange import Format, export, import_file
from specviz.store.runs.runs import read_requests, read_trace
from specviz.trace import fold
from tests.support.bench.boards import assert_complete
from tests.support.children import environment
from tests.support.faults.kept_figures import keep
from tests.support.faults.killed_work import STEPS, Place, run_ids
from tests.support.store.exchange_samples import filled
from tests.support.store.round_trip import assert_equal_rows, assert_whole
from tests.support.store.samples import frame_of, new_run, record, request_events

SEED = 20261122
QUICK = {"import_parquet": 1, "export_lines": 1, "migration": 1}
WHOLE = {
    "import_parquet": 30, "import_lines": 30, "export_parquet": 25, "export_lines": 25,
    "migration": 30, "deletion": 25, "live": 15, "benchmark": 15, "spool": 10,
}  # fmt: skip
"""Kills by operation: 205."""

SCHEMAS = Path(__file__).parents[1] / "unit" / "store" / "data"
BEGIN_S = 60.0


@dataclass
class Killer:
    """A process that forks for every operation, and a template of what each starts from."""

    process: subprocess.Popen[str]
    templates: Path

    def place(self, folder: Path, operation: str, rng: random.Random) -> Place:
        place = Place(folder)
        place.temporary.mkdir(parents=True)
        place.log.touch()
        if operation == "migration":
            old = rng.choice(sorted(SCHEMAS.glob("schema-*.duckdb.gz")))
            place.db.write_bytes(gzip.decompress(old.read_bytes()))
        elif operation in ("live", "benchmark", "import_parquet", "import_lines"):
            shutil.copy(self.templates / "empty.duckdb", place.db)
        else:
            shutil.copy(self.templates / "full.duckdb", place.db)
        for name in ("all.zip", "all.jsonl"):
            shutil.copy(self.templates / name, folder / name)
        return place

    def run(self, operation: str, place: Place, after_s: float | None) -> bool:
        """Begin, and kill `after_s` from the beginning, None: never. Whether it was killed."""
        pid = int(self._ask([operation, str(place.folder)]))
        if after_s is not None:
            wait_until(lambda: "began" in place.log.read_text())
            time.sleep(after_s)
            os.killpg(pid, signal.SIGKILL)
        code = int(self._ask(["end"]))
        assert code in (0, -signal.SIGKILL), operation
        with pytest.raises(ProcessLookupError):  # nobody is left of its session
            os.killpg(pid, 0)
        return code != 0

    def times(self, operation: str, place: Place) -> tuple[float, float]:
        """When an operation that nobody kills has begun, and when it has ended."""
        pid = int(self._ask([operation, str(place.folder)]))
        wait_until(lambda: "began" in place.log.read_text())
        began = time.monotonic()
        assert int(self._ask(["end"])) == 0, (operation, pid)
        return began, time.monotonic()

    def _ask(self, words: list[str]) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killer]:
    templates = tmp_path_factory.mktemp("templates")
    with open_store(templates / "empty.duckdb"):
        pass
    with open_store(templates / "full.duckdb") as store:
        filled(store)
        for index in range(12):
            record(store, new_run(run_id=f"run-{index}"), request_events(40))
        export(store, None, Format.PARQUET, templates / "all.zip")
        export(store, None, Format.JSONL, templates / "all.jsonl")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.faults.killed_work"],
        env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield Killer(process, templates)
    process.communicate(timeout=30)


def test_a_few_kills(killer: Killer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(killed(killer, tmp_path, monkeypatch, QUICK).values()) == sum(QUICK.values())


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_hundred_kills(killer: Killer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = killed(killer, tmp_path, monkeypatch, WHOLE)
    keep("kills", kills=done)
    print(f"{sum(done.values())} kills: {dict(done)}")
    assert sum(done.values()) >= 200


def killed(
    killer: Killer, folder: Path, monkeypatch: pytest.MonkeyPatch, kills: dict[str, int]
) -> Counter[str]:
    """Kill each operation so many times, at moments that a seed chooses, and check each time."""
    done: Counter[str] = Counter()
    for operation, wanted in kills.items():
        rng = random.Random(f"{SEED} {operation}")
        span_s = length_s(killer, folder / f"{operation}-whole", operation, rng)
        for attempt in range(20 * wanted):
            if done[operation] == wanted:
                break
            place = killer.place(folder / f"{operation}-{attempt}", operation, rng)
            monkeypatch.setattr("tempfile.tempdir", str(place.temporary))
            done[operation] += killer.run(operation, place, rng.uniform(0.0, span_s))
            CHECKS[operation](place, killer)
            assert list(place.temporary.iterdir()) == [], "a folder was left behind"
            shutil.rmtree(place.folder)
    return done


def length_s(killer: Killer, folder: Path, operation: str, rng: random.Random) -> float:
    """How long the operation takes once it has begun, with nobody to kill it."""
    place = killer.place(folder, operation, rng)
    began_s, ended_s = killer.times(operation, place)
    shutil.rmtree(folder)
    return ended_s - began_s


def check_import(place: Place, killer: Killer) -> None:
    """All of it or nothing; what was confirmed is there; a second import completes it."""
    with open_store(killer.templates / "full.duckdb") as full, open_store(place.db) as store:
        before = run_ids(store)
        assert before in ([], run_ids(full))
        assert before or ["imported"] not in place.confirmed()
        import_file(store, place.folder / "all.zip")
        assert_equal_rows(full, store)


def check_export(place: Place, killer: Killer) -> None:
    """A whole file or none, and the next export leaves nothing of the killed one behind."""
    exported = place.folder / "exported"
    assert exported.exists() or ["exported"] not in place.confirmed()
    with open_store(place.db) as store:
        if exported.exists():
            import_file(store, exported)  # equal to what is there, or refused
        export(store, None, Format.JSONL, place.folder / "again")
    assert not list(place.folder.glob(".specviz-*"))


def check_migration(place: Place, killer: Killer) -> None:
    with open_store(place.db) as store:
        assert {"interrupted", "whole"} <= set(run_ids(store))
        assert store.read(read_trace, "whole-1") == fold(request_events(3, "whole-1"))
        assert_whole(store)


def check_deletion(place: Place, killer: Killer) -> None:
    confirmed = {words[1]: words[0] for words in place.confirmed() if len(words) == 2}
    with open_store(killer.templates / "full.duckdb") as full, open_store(place.db) as store:
        there = run_ids(store)
        gone = [run for run in run_ids(full) if run not in there]
        removed = [run for run, how in confirmed.items() if how == "removed"]
        assert set(removed) <= set(gone) and len(gone) <= len(removed) + 1
        deleted = store.read(frame_of, "SELECT run_id FROM runs WHERE deleted_at IS NOT NULL")
        marked = {run for run, how in confirmed.items() if how == "deleted"} - set(gone)
        assert marked <= set(deleted["run_id"])
        steps = "SELECT request_id, count(*) AS n FROM steps GROUP BY ALL ORDER BY ALL"
        before = dict(full.read(frame_of, steps).itertuples(index=False))
        left = dict(store.read(frame_of, steps).itertuples(index=False))
        assert left.items() <= before.items(), "a run is there in part"
        assert_whole(store)


def check_live(place: Place, killer: Killer) -> None:
    answered = [words[1] for words in place.confirmed() if words[0] == "answered"]
    with open_store(place.db) as store:
        assert set(answered) <= set(run_ids(store))
        for run_id in run_ids(store):
            for request in store.read(read_requests, run_id):
                assert request.status in (RunStatus.FINISHED, RunStatus.PARTIAL)
                if request.fidelity is None:
                    continue
                indices = [step.index for step in store.read(read_trace, request.request_id).steps]
                assert indices == list(range(len(indices)))
                if run_id in answered:
                    assert len(indices) == STEPS
                    assert request.status is RunStatus.FINISHED
        assert_whole(store)


def check_benchmark(place: Place, killer: Killer) -> None:
    """What was measured is kept, and going on measures the rest once."""
    count = "SELECT count(*) AS n FROM samples"
    with open_store(place.db) as store:
        before = store.read(frame_of, count)["n"][0]
    killer.run("benchmark", place, None)
    with open_store(place.db) as store:
        found = store.read(read_benchmarks)
        assert len(found) <= 1 and before <= store.read(frame_of, count)["n"][0]
        for row in found:
            assert_complete(store, row.benchmark_id, row.planned)
        assert_whole(store)


def check_spool(place: Place, killer: Killer) -> None:
    """Whole lines up to the kill, and the next server removes the folder."""
    (folder,) = [one for one in place.temporary.iterdir() if one.name.startswith(FOLDER_PREFIX)]
    for trace in folder.glob("*.jsonl"):
        *whole, _ = trace.read_bytes().split(b"\n")
        assert [json.loads(line)["step"] for line in whole] == list(range(len(whole)))
    remove_abandoned_folders()


CHECKS: dict[str, Callable[[Place, Killer], None]] = {
    "import_parquet": check_import, "import_lines": check_import,
    "export_parquet": check_export, "export_lines": check_export,
    "migration": check_migration, "deletion": check_deletion, "live": check_live,
    "benchmark": check_benchmark, "spool": check_spool,
}  # fmt: skip


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + BEGIN_S
    while not true():
        assert time.monotonic() < deadline, "it did not begin"
        time.sleep(0.001)
