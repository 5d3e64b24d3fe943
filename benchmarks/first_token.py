"""A new user's first minute: start the app on an empty store, open it in Chromium, press Run.

The arms are the page's defaults (embedded engine). Measured from pressing Run to the first token on
the page and to the first accepted (coloured) one: pressed as soon as the button appears, while the
engine may still be loading, and once more later. Both runs' speed-ups are what the page shows: the
first would differ if the app were still busy with its start. Then both arms are moved to llama.cpp,
of which the machine has no GGUF file when the app starts, and Run starts their servers. Memory is
the app's proportional set size before that (memory shared between processes is divided among them).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median

import psutil
from playwright.sync_api import Error, Page

from benchmarks.results_file import add_save_option, save
from benchmarks.started.chromium import chromium, wait_until_visible
from specviz.analysis.readout import SPEEDUP
from specviz.machine import hardware_summary
from specviz.paths import PROJECT_ROOT
from specviz.servers.launch.server import free_port

RUNS = 3
MIB = 2**20


@dataclass(frozen=True)
class Figures:
    """Times in seconds, memory in MiB, speed-up as a ratio."""

    page_ready_s: float
    first_token_s: float
    first_accepted_s: float
    first_speedup: float
    second_first_token_s: float
    second_speedup: float
    llama_cpp_first_token_s: float
    llama_cpp_first_accepted_s: float
    memory_mib: float


def wait_for_page(page: Page, url: str) -> None:
    """Open the page as soon as the app listens."""
    while True:
        try:
            page.goto(url)
            break
        except Error as error:
            if "ERR_CONNECTION_REFUSED" not in str(error):
                raise
            time.sleep(0.1)
    wait_until_visible(page.get_by_role("button", name="Run", exact=True))


def move_to_llama_cpp(page: Page) -> None:
    """Both arms to servers that Run will start."""
    page.get_by_role("button", name="Arms").click()
    for arm in ("Arm 1", "Arm 2"):
        page.get_by_role("combobox", name=arm).click()
        page.get_by_role("option", name="llama.cpp demo server").click()
    page.keyboard.press("Escape")
    page.get_by_text("start it in a second or two").wait_for()


def speedup_of(page: Page) -> float:
    """What the second pane shows: `speed-up`, and below it `1.64×`."""
    lines = page.locator(".pane").nth(1).inner_text().split("\n")
    return float(lines[lines.index(SPEEDUP) + 1].rstrip("×"))


def press_run(page: Page) -> tuple[float, float]:
    """Seconds from the press to the first token and to the first accepted one."""
    button = page.get_by_role("button", name="Run", exact=True)
    began_s = time.monotonic()
    button.click()
    wait_until_visible(page.locator(".pane .box"), 180)
    first_s = time.monotonic() - began_s
    wait_until_visible(page.locator(".pane .box.accepted"), 180)
    accepted_s = time.monotonic() - began_s
    page.locator(".pane[data-phase=finished]").nth(1).wait_for(timeout=60_000)
    return first_s, accepted_s


def one_run(folder: Path) -> Figures:
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    own = {"SPECVIZ_STORE": str(folder / "runs.duckdb"), "XDG_CACHE_HOME": str(folder / "cache")}
    began_s = time.monotonic()
    with (folder / "app.log").open("w") as log:
        app = subprocess.Popen(
            command,
            cwd=PROJECT_ROOT,
            env={**os.environ, **own},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        with chromium() as browser:
            page = browser.new_page()
            url = f"http://127.0.0.1:{port}"
            wait_for_page(page, url)
            ready_s = time.monotonic() - began_s
            first = (*press_run(page), speedup_of(page))
            page.goto(url)  # a fresh page, without the first run's tokens
            second_s, _ = press_run(page)
            second = (second_s, speedup_of(page))
            memory = psutil.Process(app.pid).memory_full_info().pss / MIB
            page.goto(url)
            move_to_llama_cpp(page)
            llama_cpp_s = press_run(page)
    finally:
        app.terminate()
        app.wait(30)
    return Figures(ready_s, *first, *second, *llama_cpp_s, memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", default=RUNS, type=int, help="starts of the app")
    add_save_option(parser, "first_token")
    options = parser.parse_args()
    print(f"{options.runs} starts of the app on {hardware_summary()}")
    results = []
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            results.append(one_run(Path(folder)))
    for name in (entry.name for entry in fields(Figures)):
        values = [getattr(result, name) for result in results]
        print(f"{name:22} median {median(values):6.2f}  {min(values):.2f} to {max(values):.2f}")
    if options.save:
        save(options.save, {"starts": [asdict(result) for result in results]})


if __name__ == "__main__":
    main()
