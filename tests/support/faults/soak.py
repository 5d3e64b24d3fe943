"""An app in use: browsers, commands, questions and files, round after round, and what it holds.

The real app on a database with a run, a real vLLM server that traces, Chromium: one tab stays open
and goes from page to page, in each round a new one runs something on the Live page and leaves.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import httpx2
import psutil
from playwright.sync_api import Browser, Page, expect

from specviz.paths import PROJECT_ROOT
from specviz.remote.token import secret_header
from specviz.store.owner import read_owner
from specviz.store.secret import read_secret
from specviz.views.shared.pages import LIVE, PAGES
from tests.support.faults.hostile_sql import MEMORY_BOMBS

MIB = 1024**2
ADDRESSES = ["" if page is LIVE else page.name for page in PAGES.values()]
QUESTIONS = (
    "SELECT method, count(*) FROM runs GROUP BY ALL",
    "SELECT count(*) FROM steps",
    "SELECT * FROM no_such_table",
    "COPY runs TO 'runs.csv'",
    MEMORY_BOMBS[1],
)
SLOW_MS = 120_000
LEVEL_ROUNDS = 30
"""Until what is held levels off: the descriptors that visitors leave, six each, are collected by
the dozen, and over an hour of 354 rounds rose for the first 22 and then no more."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What the app's process and its children hold `at_s` seconds after the start."""

    at_s: float
    memory_mib: float
    descriptors: int
    threads: int
    processes: int
    spool_files: int
    spool_mib: float
    work_files: int


@dataclass(frozen=True, slots=True)
class House:
    """Where the soak happens: the app at `url` on `store`, a tracing server and its spool."""

    url: str
    store: Path
    server_url: str
    spool: Path

    @property
    def app(self) -> psutil.Process:
        pid = read_owner(self.store, None).pid
        assert pid is not None
        return psutil.Process(pid)

    def sample(self, began: float) -> Sample:
        app = self.app
        family = [app, *app.children(recursive=True)]
        held = [one for one in map(_held, family) if one is not None]
        spooled = [path for path in self.spool.glob("*") if path.is_file()]
        beside = [path for path in self.store.parent.rglob("*") if path.is_file()]
        return Sample(
            at_s=round(time.monotonic() - began, 1),
            memory_mib=round(sum(one[0] for one in held) / MIB, 1),
            descriptors=sum(one[1] for one in held),
            threads=sum(one[2] for one in held),
            processes=len(held),
            spool_files=len(spooled),
            spool_mib=round(sum(path.stat().st_size for path in spooled) / MIB, 2),
            work_files=len(beside),
        )


def store_a_run(store: Path) -> None:
    """A database as an app finds it at any start but its first.

    Beside rows that are in the file DuckDB holds new ones in a block per column; on a new file only
    after its log is first moved there, a quarter of an hour later.
    """
    command = [sys.executable, "-m", "specviz", "run", "--prompt", "Count to ten."]
    command += ["--method", "draft_model", "--max-tokens", "32", "--db", str(store)]
    subprocess.run(command, cwd=PROJECT_ROOT, check=True, capture_output=True, timeout=120)


def soak(house: House, browser: Browser, minutes: float) -> Iterator[Sample]:
    """Rounds until the time is over, a sample after each."""
    began = time.monotonic()
    stays = browser.new_page()
    stays.set_default_timeout(SLOW_MS)
    number = 0
    while time.monotonic() - began < 60 * minutes:
        for act in ACTS:
            act(house, browser, stays, number)
        number += 1
        yield house.sample(began)
    stays.close()


def _run_live(house: House, browser: Browser, _: Page, number: int) -> None:
    """Every third visitor leaves in the middle of the answer."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(SLOW_MS)
    page.goto(house.url)
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".pane .box").first.wait_for()
    if number % 3:
        finished = page.locator(".pane[data-phase=finished]")
        expect(finished).to_have_count(2, timeout=SLOW_MS)
        page.get_by_text("Open the stored run").click()
        expect(page.locator(".pane .tok").first).to_be_visible(timeout=SLOW_MS)
    context.close()


def _go_round(house: House, _: Browser, stays: Page, number: int) -> None:
    """Two pages a round: one opened by its address, one from the navigation."""
    stays.goto(f"{house.url}/{ADDRESSES[number % len(PAGES)]}")
    stays.get_by_test_id("stMain").wait_for()
    stays.get_by_test_id("stSidebarNavLink").nth((number + 3) % len(PAGES)).click()
    stays.get_by_test_id("stMainBlockContainer").get_by_test_id("stMarkdown").first.wait_for()
    expect(stays.get_by_test_id("stException")).to_have_count(0)


def _ask(house: House, _: Browser, __: Page, number: int) -> None:
    with _client(house) as http:
        for _place in range(5):
            assert http.post("/api/query", json={"sql": QUESTIONS[0]}).status_code == 200
        answer = http.post("/api/query", json={"sql": QUESTIONS[number % len(QUESTIONS)]})
        assert answer.status_code in (200, 400, 500)


def _stored_by_a_command(house: House, _: Browser, __: Page, number: int) -> None:
    """A traced run of the vLLM server; every fourth command is killed in the middle."""
    command = [sys.executable, "-m", "specviz", "run", "--server", house.server_url]
    command += ["--prompt", f"Count to {number}.", "--max-tokens", "64", "--db", str(house.store)]
    child = subprocess.Popen(
        command, cwd=PROJECT_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if number % 4 == 3:
        time.sleep(2)
        child.kill()
    _, errors = child.communicate(timeout=120)
    assert number % 4 == 3 or child.returncode == 0, errors


def _out_and_in(house: House, _: Browser, __: Page, number: int) -> None:
    """Everything as a file; and it is there already."""
    with _client(house) as http:
        kind, name = (("parquet", "a.zip"), ("jsonl", "a.jsonl"))[number % 2]
        file = http.get("/api/export", params={"format": kind})
        assert file.status_code == 200, file.text
        taken = http.post("/api/import", params={"file": name}, content=file.content)
        assert taken.status_code == 200, taken.text
        broken = http.post("/api/import", params={"file": name}, content=file.content[:-100])
        assert broken.status_code == 400, broken.text


Act = Callable[[House, Browser, Page, int], None]
ACTS: tuple[Act, ...] = (_run_live, _go_round, _ask, _stored_by_a_command, _out_and_in)


def _client(house: House) -> httpx2.Client:
    headers = secret_header(read_secret(house.store))
    return httpx2.Client(base_url=house.url, headers=headers, timeout=120)


def _held(process: psutil.Process) -> tuple[int, int, int] | None:
    """Memory of its own (pages shared with others only once), descriptors, threads."""
    try:
        return process.memory_full_info().uss, process.num_fds(), process.num_threads()
    except psutil.NoSuchProcess:
        return None


HELD = ("memory_mib", "descriptors", "threads", "processes", "spool_files", "work_files")


def warm(samples: list[Sample], warm_up_s: float) -> list[Sample]:
    """Those after the warm-up, which takes `LEVEL_ROUNDS` rounds at least."""
    return [sample for sample in samples[LEVEL_ROUNDS:] if sample.at_s >= warm_up_s]


def growth(samples: list[Sample]) -> dict[str, tuple[float, float]]:
    """Of each thing held: the median of the first third, and of the last third.

    >>> ten = [Sample(at, 100.0, 9, 5, 1, 0, 0.0, 2) for at in range(10)]
    >>> growth(ten)["descriptors"]
    (9, 9)
    """
    third = max(1, len(samples) // 3)
    return {
        name: (
            median(getattr(sample, name) for sample in samples[:third]),
            median(getattr(sample, name) for sample in samples[-third:]),
        )
        for name in HELD
    }


def as_figures(samples: list[Sample], warm_up_s: float) -> dict[str, object]:
    """For the result file: the samples, and how the held grew."""
    grown = {name: list(ends) for name, ends in growth(warm(samples, warm_up_s)).items()}
    return {"warm_up_s": warm_up_s, "held": grown, "samples": list(map(asdict, samples))}
