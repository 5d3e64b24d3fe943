"""A disk without room, as a limit on the size of files (`RLIMIT_FSIZE`) in a process of its own.

The kernel then fails writes with EFBIG where a full disk says ENOSPC; DuckDB treats both alike.
"""

from pathlib import Path

import pytest

from tests.support.children import run_python

SETUP = """
    import os, random, resource, threading, time
    from dataclasses import replace
    from pathlib import Path
    from specviz.config import Prompt, RunStatus
    from specviz.errors import StoreError
    from specviz.store import open_store
    from specviz.store.file import database
    from specviz.store.runs.runs import read_trace
    from specviz.trace import fold
    from tests.support.store.samples import new_run, record, request_events, step

    path = Path(sys.argv[1])
    def limit(num_bytes):
        resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, resource.RLIM_INFINITY))
    def files():
        return max(os.path.getsize(f) for f in (path, f"{path}.wal") if os.path.exists(f))
    def long_request(request_id):
        pool = random.Random(request_id)
        started, *steps, finished = request_events(100, request_id)
        text = lambda: pool.randbytes(1000).hex()
        steps = [replace(s, emitted=tuple(replace(t, text=text()) for t in s.emitted))
                 for s in steps]
        return [started, *steps, finished]
"""


def test_a_full_disk_is_reported_nothing_is_lost_and_no_half_database_left(path: Path) -> None:
    done = run_python(
        SETUP
        + """
    with open_store(path) as store:
        record(store, new_run(run_id="before"), request_events(3, "before"))
        store.start_run(new_run(run_id="big"))
        store.start_run(new_run(run_id="small"))
        big, small = store.recorder("big", Prompt("p")), store.recorder("small", Prompt("p"))
        for event in request_events(2, "small"):
            small.append(event)
        limit(files() + 100_000)
        for event in long_request("big"):
            big.append(event)
        while big.error is None:  # the flush has failed, and says so
            time.sleep(0.01)
        assert "could not be saved" in big.error and "File too large" in big.error, big.error
        for _ in range(2):
            try:
                big.finish(RunStatus.FINISHED)
                raise SystemExit("the disk was not full")
            except StoreError as error:
                assert "\\n" not in str(error)
                print(error)
        small.finish(RunStatus.FINISHED)  # there is room for this one
        assert len(store.read(read_trace, "small").steps) == 2
        assert len(store.read(read_trace, "before").steps) == 3
        limit(resource.RLIM_INFINITY)
        big.finish(RunStatus.FINISHED)
        store.finish_run("big", RunStatus.FINISHED)
        assert big.error is None
        assert store.read(read_trace, "big") == fold(long_request("big"))
    with open_store(path) as store:
        assert store.read(read_trace, "big") == fold(long_request("big"))
        print("kept")
    limit(1000)
    try:
        open_store(path.parent / "other" / "runs.duckdb")
    except StoreError as error:
        print(error)
    assert os.listdir(path.parent / "other") == []
    """,
        path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, second, kept, none_made = done.stdout.splitlines()
    assert first == second and kept == "kept"
    assert "File too large" in none_made


@pytest.mark.slow
def test_a_checkpoint_without_room_costs_neither_data_nor_the_store(path: Path) -> None:
    done = run_python(
        SETUP
        + """
    failed, checkpoint = threading.Event(), database.Database.checkpoint
    def noticed(self):
        try:
            checkpoint(self)
        except Exception:
            failed.set()
            raise
    database.Database.checkpoint = noticed
    database.CHECKPOINT_WAL_BYTES = 500_000
    with open_store(path) as store:
        for request_id in "abc":  # goes into the file
            record(store, new_run(), long_request(request_id))
        limit(files() + 300_000)  # room in the log, not in the file
        record(store, new_run(), long_request("d"))
        assert failed.wait(60)
        for request_id in "abcd":
            assert store.read(read_trace, request_id) == fold(long_request(request_id))
        record(store, new_run(), request_events(1, "e"))
        limit(resource.RLIM_INFINITY)
        record(store, new_run(), long_request("f"))
    with open_store(path) as store:
        for request_id in "abcdf":
            assert store.read(read_trace, request_id) == fold(long_request(request_id))
        assert len(store.read(read_trace, "e").steps) == 1
        print("kept")
    """,
        path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "kept\n"
    assert "could not be moved into its file" in done.stderr  # or nothing was tested
    assert "database has been invalidated" not in done.stderr
