"""What a process keeps does not grow with what it has done: arenas, compiled kernels."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest
import torch

from specviz.engines.embedded.linear import has_layout
from specviz.paths import PROJECT_ROOT

GLIBC = platform.libc_ver()[0] == "glibc"
THREADS = 40

APP_WITH_THREADS = f"""
import asyncio, ctypes, tempfile, threading
import app

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
app.warm_up = lambda: None

async def main():
    async with app.lifespan(app.app):
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
            print(file.read().count(b"<heap nr="))

asyncio.run(main())
"""

PRODUCTS = """
import ctypes, torch
from specviz.engines.embedded.linear import Linear

class Info(ctypes.Structure):
    _fields_ = [(str(number), ctypes.c_size_t) for number in range(10)]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info
product = Linear(torch.randn(256, 256))

def used_after(rows):
    with torch.inference_mode():
        for n in rows: product(torch.randn(n, 256))
    return getattr(libc.mallinfo2(), "7")

before = used_after(range(1, 200))
print((used_after(range(200, 400)) - before) / 2**20)
"""


def printed(program: str, **variables: str) -> float:
    env = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=env | variables, cwd=PROJECT_ROOT,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return float(ran.stdout.split()[-1])


@pytest.mark.skipif(not GLIBC, reason="arenas are glibc's")
def test_threads_of_the_app_share_one_arena_per_core(tmp_path: object) -> None:
    most = max(os.cpu_count() or 1, 4)  # those that the libraries' threads had before
    assert printed(APP_WITH_THREADS, SPECVIZ_STORE=f"{tmp_path}/runs.duckdb") <= most


@pytest.mark.skipif(not GLIBC, reason="counted with mallinfo2")
def test_prompts_of_new_lengths_do_not_add_kernels() -> None:
    if not has_layout(torch.float32):
        pytest.skip("torch has no oneDNN here")
    assert printed(PRODUCTS) < 10  # MiB
