"""What a process keeps does not grow with what it has done: arenas, compiled kernels."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import torch

from specviz.engines.embedded.linear import Linear, has_layout
from specviz.errors import UsageError
from specviz.paths import PROJECT_ROOT
from specviz.store import open_store
from specviz.store.exchange import Format, export, exporting, import_file, importing
from specviz.store.shown import hide_sample
from tests.support.store.made import made

GLIBC = platform.libc_ver()[0] == "glibc"
THREADS = 40

APP = f"""
import streamlit.web.bootstrap
import app

import asyncio, ctypes, gc, json, os, tempfile, threading
from pathlib import Path
from typing import Any
import pyarrow as pa
from specviz.store import open_store
from specviz.store.exchange import Format, export, import_file

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
folder = Path(os.environ["FOLDER"])

def start():
    thread = threading.Thread(target=lambda: None)
    thread.start()
    return thread

app.warm_up = start

def heaps():
    everyone = threading.Barrier({THREADS})
    def work():
        libc.malloc(1000)
        everyone.wait()
    threads = [threading.Thread(target=work) for _ in range({THREADS})]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    with tempfile.NamedTemporaryFile() as file:
        stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
        libc.malloc_info(0, stream)
        libc.fclose(stream)
        return file.read().count(b"<heap nr=")

def taken_from_mimalloc():
    with open_store(folder / "other.duckdb") as store:
        export(store, None, Format.PARQUET, folder / "all.zip")
        import_file(store, folder / "all.zip")
    return pa.mimalloc_memory_pool().max_memory()

async def main():
    async with app.lifespan(app.app):
        for thread in threading.enumerate():
            if thread.name == "start":
                thread.join(60)
        looked_at = len(gc.get_objects()) / (len(gc.get_objects()) + gc.get_freeze_count())
        print(json.dumps(
            {{"looked at": looked_at, "heaps": heaps(), "mimalloc": taken_from_mimalloc()}}
        ))

asyncio.run(main())
"""

FREED = """
import ctypes, psutil, pyarrow as pa
from specviz.memory import return_freed

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]

def held():
    return psutil.Process().memory_full_info().uss / 2**20

def freed_in_glibc():
    blocks = [libc.malloc(4000) for _ in range(20_000)]
    for block in blocks: ctypes.memset(block, 1, 4000)
    for block in blocks[:-1]: libc.free(block)  # the last one keeps the heap as long as it is

def freed_by_arrow():
    for _ in range(20): pa.array([b"x" * 1000]).take(pa.array([0] * 4000))

{what}()
before = held()
return_freed()
print(before - held())
"""

ARROW_IN_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import psutil
import streamlit.web.bootstrap
if {in_app}:
    import app
    from specviz.memory import share_arenas
    share_arenas()
import pyarrow as pa
from specviz.memory import return_freed

text, places = pa.array([b"x" * 1000]), [pa.array([0] * n) for n in (1, 10, 50, 200, 900)]
everyone = Barrier(16)

def held():
    return psutil.Process().memory_full_info().uss / 2**20

def in_every_thread(work):
    def at_once(_):
        everyone.wait()
        work()
        everyone.wait()
    list(threads.map(at_once, range(16)))

with ThreadPoolExecutor(16) as threads:
    in_every_thread(lambda: text.take(places[0]))
    before = held()
    in_every_thread(lambda: [text.take(place) for place in places for _ in range(60)])
    return_freed()
    print(held() - before)
"""


def printed(program: str, **variables: str) -> Any:
    chosen = ("MALLOC_ARENA_MAX", "ARROW_DEFAULT_MEMORY_POOL")
    env = {name: value for name, value in os.environ.items() if name not in chosen}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=env | variables, cwd=PROJECT_ROOT,
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """The memory of a process of the app, as it says itself."""
    folder = tmp_path_factory.mktemp("app")
    with open_store(made(folder / "runs.duckdb")) as store:
        store.write(hide_sample, datetime(2026, 11, 1, tzinfo=UTC))  # nothing of it is worked out
    found: dict[str, float] = printed(
        APP, FOLDER=str(folder), SPECVIZ_STORE=str(folder / "runs.duckdb")
    )
    return found


@pytest.mark.slow  # a process of the whole app; the tests below are the first cases
@pytest.mark.skipif(not GLIBC, reason="arenas are glibc's")
def test_threads_of_the_app_share_one_arena_per_core(app: dict[str, float]) -> None:
    most = max(os.cpu_count() or 1, 4)  # those that the libraries' threads had before
    assert app["heaps"] <= most


@pytest.mark.slow
def test_an_exchange_in_the_app_takes_nothing_from_mimalloc(app: dict[str, float]) -> None:
    assert app["mimalloc"] == 0  # bytes


@pytest.mark.slow
def test_collections_of_the_app_pass_over_what_its_start_has_made(app: dict[str, float]) -> None:
    assert app["looked at"] < 0.1  # of all objects; all of them, unless they are left out


@pytest.mark.skipif(not GLIBC, reason="trimming is glibc's")
@pytest.mark.slow
@pytest.mark.parametrize("in_app", [True, False])
def test_what_threads_freed_in_arrow_is_returned(in_app: bool) -> None:
    kept = printed(ARROW_IN_THREADS.replace("{in_app}", str(in_app)))
    assert (kept < 20) is in_app  # MiB; without, each thread keeps some


class Info(ctypes.Structure):
    """The result of glibc's `mallinfo2`; `allocated` is in bytes."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (*"abcdefg", "allocated", "freed", "releasable")
    ]  # fmt: skip


@pytest.mark.skipif(not GLIBC, reason="counted with mallinfo2")
def test_prompts_of_new_lengths_do_not_add_kernels() -> None:
    if not has_layout(torch.float32):
        pytest.skip("torch has no oneDNN here")
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Info
    product = Linear(torch.randn(256, 256))

    def allocated_after(lengths: range) -> int:
        with torch.inference_mode():
            for rows in lengths:
                product(torch.randn(rows, 256))
        return int(libc.mallinfo2().allocated)

    before = allocated_after(range(1, 200))
    assert allocated_after(range(200, 400)) - before < 10 * 2**20


@pytest.mark.skipif(not GLIBC, reason="trimming is glibc's")
@pytest.mark.parametrize(
    ("what", "mib"),
    [("freed_in_glibc", 60), pytest.param("freed_by_arrow", 1, marks=pytest.mark.slow)],
)
def test_what_was_freed_is_returned(what: str, mib: float) -> None:
    assert printed(FREED.replace("{what}", what)) > mib


def test_an_exchange_returns_what_it_took(
    tmp_path: Path, empty_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    returned: list[str] = []
    for module in (exporting, importing):
        monkeypatch.setattr(module, "return_freed", lambda: returned.append("all"))
    file = tmp_path / "all.jsonl"
    with open_store(shutil.copy(empty_database, tmp_path / "runs.duckdb")) as store:
        export(store, None, Format.JSONL, file)
        import_file(store, file)
        with pytest.raises(UsageError):
            export(store, None, Format.JSONL, file)
        file.write_text("{")
        with pytest.raises(UsageError):
            import_file(store, file)
    assert len(returned) == 4
