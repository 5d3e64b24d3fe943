"""From the app's start to the first coloured token, as a new user: one click, no server running.

Starts the app on an empty store, opens it in Chromium, presses Run and waits for the first
accepted token. Memory is the proportional set size (pages shared between processes counted once)
of the app and of the two demo servers at the end of the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil
from playwright.sync_api import Page, sync_playwright

from specviz.engines.vllm.server import free_port
from specviz.machine import hardware_summary
from specviz.paths import PROJECT_ROOT

RUNS = 3
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
MIB = 2**20


def first_token_s(page: Page, url: str, began_s: float) -> float:
    """Seconds since `began_s` until the first accepted token is on the page."""
    while True:
        try:
            page.goto(url)
            break
        except Exception as error:  # the app is not listening yet
            if "ERR_CONNECTION_REFUSED" not in str(error):
                raise
            time.sleep(0.2)
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".pane .box.accepted").first.wait_for(timeout=180_000)
    return time.monotonic() - began_s


def memory_mib(process: psutil.Process) -> tuple[float, float]:
    """The app itself, and its servers."""
    children = process.children(recursive=True)
    own = process.memory_full_info().pss
    return own / MIB, sum(child.memory_full_info().pss for child in children) / MIB


def one_run(folder: Path) -> tuple[float, float, float]:
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    environment = {**os.environ, "SPECVIZ_STORE": str(folder / "runs.duckdb")}
    began_s = time.monotonic()
    with (folder / "app.log").open("w") as log:
        app = subprocess.Popen(
            command, cwd=PROJECT_ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
            page = browser.new_page()
            seconds = first_token_s(page, f"http://127.0.0.1:{port}", began_s)
            page.locator(".pane[data-phase=finished]").nth(1).wait_for(timeout=60_000)
            own, servers = memory_mib(psutil.Process(app.pid))
            browser.close()
    finally:
        app.terminate()
        app.wait(30)
    return seconds, own, servers


def main() -> None:
    print(f"first coloured token, {RUNS} runs on {hardware_summary()}")
    results = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            results.append(one_run(Path(folder)))
        seconds, own, servers = results[-1]
        print(f"{seconds:.1f} s from start, app {own:.0f} MiB, demo pair {servers:.0f} MiB")
    seconds = [result[0] for result in results]
    print(f"median {median(seconds):.1f} s, {min(seconds):.1f} to {max(seconds):.1f} s")


if __name__ == "__main__":
    main()
