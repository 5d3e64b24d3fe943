"""Whose database it is, and files that are not ours to open."""

import json
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from specviz.config import RunStatus
from specviz.errors import StoreError
from specviz.store import Store, StoreBusy, default_location, migrations, open_store
from specviz.store.file.database import SETTINGS
from specviz.store.owner import sidecar
from specviz.store.runs.runs import read_requests, read_run, read_trace
from specviz.trace import Fidelity, RequestStarted
from tests.support.children import environment, program, run_python
from tests.support.store.samples import (
    frame_of,
    new_run,
    num_runs,
    record,
    request_events,
    step,
)

OPEN_ELSEWHERE = """
    from pathlib import Path
    from specviz.store import StoreBusy, open_store
    try:
        open_store(Path(sys.argv[1]))
    except StoreBusy as busy:
        print(busy.pid, busy.url)
        print(busy)
"""


def test_another_process_learns_who_owns_the_database(path: Path) -> None:
    with open_store(path) as store:
        pid = os.getpid()
        store.announce("http://127.0.0.1:8501")
        reported = run_python(OPEN_ELSEWHERE, path).stdout.splitlines()
    assert reported[0] == f"{pid} http://127.0.0.1:8501"
    assert "app at http://127.0.0.1:8501" in reported[1]
    assert not sidecar(path).exists()


def test_a_url_left_by_a_dead_owner_is_not_believed(path: Path) -> None:
    with open_store(path):
        sidecar(path).write_text(json.dumps({"pid": 1, "url": "http://gone"}))
        reported = run_python(OPEN_ELSEWHERE, path).stdout.splitlines()
    assert reported[0] == f"{os.getpid()} None"
    assert f"process {os.getpid()}" in reported[1]


def test_the_same_process_cannot_open_it_twice(path: Path) -> None:
    with open_store(path) as store, pytest.raises(StoreBusy) as caught:
        open_store(path.parent / ".." / path.parent.name / path.name)
    assert caught.value.pid == os.getpid()
    store.close()
    open_store(path).close()


def test_migrations_are_applied_once(path: Path) -> None:
    for _ in range(2):
        with open_store(path) as store:
            applied = store.read(frame_of, "SELECT name FROM specviz_migrations")
            assert list(applied["name"]) == migrations.names()


def test_a_file_of_a_newer_specviz_is_refused_unchanged(path: Path) -> None:
    with open_store(path) as store:
        record(store, new_run(), request_events(2))
    con = duckdb.connect(path)
    con.execute("INSERT INTO specviz_migrations VALUES ('9999_future.sql', now()::TIMESTAMP)")
    con.close()
    assert_refused_unchanged(path, "made by a newer specviz")


def test_a_newer_file_format_is_refused_unchanged(path: Path) -> None:
    open_store(path).close()
    content = bytearray(path.read_bytes())
    content[12] = 250  # the format's version, after the checksum and DUCK
    struct.pack_into("<Q", content, 0, checksum(content[8:4096]))
    path.write_bytes(content)
    assert_refused_unchanged(path, "made by a newer specviz")


def test_the_database_of_another_program_is_refused_unchanged(path: Path) -> None:
    path.parent.mkdir()
    con = duckdb.connect(path)
    con.execute("CREATE TABLE runs (marathon VARCHAR)")
    con.close()
    assert_refused_unchanged(path, "another program")


@pytest.mark.parametrize(
    "content", [b"", b"short", b"hello world" * 1000, b"SQLite format 3\0" + bytes(4096)]
)
def test_a_file_that_is_no_database_is_refused_unchanged(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert_refused_unchanged(path, "cannot be opened as a specviz database")


@pytest.mark.parametrize("name", ["runs.json", "runs.jsonl", "runs.csv.gz", "runs.parquet"])
@pytest.mark.parametrize("content", [b"", b'{"a": 1}\n'])
def test_a_data_file_is_not_a_database_in_memory(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert_refused_unchanged(tmp_path / name, "has the name of a data file")


def test_a_damaged_database_is_refused_unchanged(path: Path) -> None:
    with open_store(path) as store:
        record(store, new_run(), request_events(2))
    content = path.read_bytes()
    states = (content[: len(content) // 3], content[:12288] + bytes(len(content) - 12288))
    for number, damaged in enumerate(states, 1):
        path.write_bytes(damaged)
        assert_refused_unchanged(path, "cannot be opened", *states[: number - 1])
        copies = {copy.read_bytes() for copy in path.parent.glob("*.damaged-*")}
        assert copies == set(states[:number])  # one of each state, also within a second


def test_what_was_in_a_file_that_does_not_open_is_copied_aside_once(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"hello world" * 1000)
    for _ in range(2):
        with pytest.raises(
            StoreError, match=r"a copy is .*\.damaged-\d{8}T\d{6}\.\d{6}; it is left as"
        ):
            open_store(path)
    (copy,) = path.parent.glob("*.damaged-*")
    assert copy.read_bytes() == path.read_bytes() == b"hello world" * 1000


def test_a_damaged_block_is_reported_and_copied_and_nothing_is_written_over_it(
    path: Path,
) -> None:
    with open_store(path) as store:
        for _ in range(8):
            record(store, new_run(), request_events(200))
    with open_store(path) as store:
        (row,) = store.read(
            frame_of,
            "SELECT block_id FROM pragma_storage_info('decisions') WHERE block_id >= 0 LIMIT 1",
        ).itertuples()
    content = bytearray(path.read_bytes())
    place = 3 * 4096 + row.block_id * int(SETTINGS["default_block_size"]) + 4000
    content[place : place + 8] = bytes(byte ^ 255 for byte in content[place : place + 8])
    path.write_bytes(content)
    with open_store(path) as store:
        assert store.read(num_runs) == 8
        with pytest.raises(StoreError, match="checksum"):
            store.read(frame_of, "SELECT max(COLUMNS(*)) FROM decisions")
        with pytest.raises(StoreError, match=r"is damaged .* a copy is .* nothing is written"):
            store.start_run(new_run())
        assert store.read(num_runs) == 8  # what can be read still is
    (copy,) = path.parent.glob("*.damaged-*")
    assert path.read_bytes()[place : place + 8] == copy.read_bytes()[place : place + 8]
    assert copy.read_bytes()[place : place + 8] == content[place : place + 8]


def test_new_rows_take_little_memory_beside_those_in_the_file(path: Path) -> None:
    """DuckDB begins a block for every column of a table that gets rows; in blocks of 256 KiB, its
    own size, a first run takes 50 MiB."""
    held = "SELECT memory_usage_bytes AS n FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"
    with open_store(path) as store:
        record(store, new_run(), request_events(20))
    with open_store(path) as store:
        record(store, new_run(), request_events(20))
        assert 0 < store.read(frame_of, held)["n"][0] < 16 * 2**20


def test_freed_memory_is_returned_in_the_background(store: Store) -> None:
    asked = "SELECT current_setting('allocator_background_threads') AS is_on"
    assert store.read(frame_of, asked)["is_on"][0]


def test_after_an_internal_error_of_duckdb_the_database_is_opened_again(
    store: Store,
) -> None:
    record(store, new_run(), request_events(2))

    def fail(cursor: duckdb.DuckDBPyConnection) -> None:
        raise duckdb.InternalException("INTERNAL Error: Attempted to access index 0")

    before = store._database._root
    with pytest.raises(StoreError, match="INTERNAL"):
        store.read(fail)
    assert store.read(num_runs) == 1
    assert store._database._root is not before


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(tmp_path / "file" / "runs.duckdb")


def test_the_environment_chooses_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_STORE", "/somewhere/else.duckdb")
    assert default_location() == Path("/somewhere/else.duckdb")
    monkeypatch.delenv("SPECVIZ_STORE")
    assert default_location().parts[-2:] == ("data", "specviz.duckdb")


def test_after_kill_9_the_run_is_partial_with_the_steps_that_were_flushed(path: Path) -> None:
    victim = subprocess.Popen(
        [
            sys.executable,
            "-c",
            program("""
                import time
                from pathlib import Path
                from specviz.config import Prompt, RunStatus
                from specviz.store import open_store
                from tests.support.store.samples import new_run, record, request_events, step
                store = open_store(Path(sys.argv[1]))
                store.announce("http://127.0.0.1:1")
                record(store, new_run(run_id="before"), request_events(3, "before"))
                store.start_run(new_run(run_id="silent"))
                store.start_run(new_run(run_id="victim"))
                recorder = store.recorder("victim", Prompt("p"))
                recorder.append(request_events(0, "victim")[0])
                for index in range(10_000):
                    recorder.append(step(index))
                    print(recorder._saved.num_events - 1, flush=True)
                    time.sleep(0.01)
            """),
            str(path),
        ],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert victim.stdout is not None
        safe = 0  # steps whose commit was confirmed before the kill
        while safe < 100:
            safe = int(victim.stdout.readline())
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
    with open_store(path) as store:
        run = store.read(read_run, "victim")
        assert run.status is RunStatus.PARTIAL
        assert run.error is not None and run.finished_at is None
        (row,) = store.read(read_requests, "victim")
        assert row.status is RunStatus.PARTIAL
        trace = store.read(read_trace, "victim")
        saved = len(trace.steps)
        assert trace.steps == tuple(step(index) for index in range(saved))
        assert row.output_text == trace.text
        assert row.metrics is not None and row.metrics.num_accepted_tokens == saved
        assert trace.e2el_ms is None and trace.finish_reason is None
        assert saved >= safe
        assert store.read(read_run, "silent").status is RunStatus.PARTIAL
        assert store.read(read_run, "before").status is RunStatus.FINISHED
        assert store.read(read_requests, "before")[0].finish_reason == "length"
        record(store, new_run(), [RequestStarted("after", Fidelity.TRACED)])


def checksum(page: bytes) -> int:
    """DuckDB's checksum of a page, as in its src/common/checksum.cpp."""
    result = 5381
    for (word,) in struct.iter_unpack("<Q", page):
        result ^= word * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return result


def assert_refused_unchanged(path: Path, reason: str, *earlier: bytes) -> None:
    before = path.read_bytes()
    with pytest.raises(StoreError, match=reason) as caught:
        open_store(path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert {file for file in path.parent.iterdir() if ".damaged-" not in file.name} == {path}
    known = (before, *earlier, b"")
    assert all(copy.read_bytes() in known for copy in path.parent.glob("*.damaged-*"))
