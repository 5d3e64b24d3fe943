"""The first start: every page has its name, and shows the sample and says so until you hide it or
have a run of your own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.engines.replay import events_of
from specviz.methods import Method
from specviz.remote.ingest import post_run
from specviz.store import RecordedRequest
from specviz.store.secret import read_secret
from specviz.views.shared.pages import PAGES
from tests.support.accessibility import judged, violations
from tests.support.apps.process import ROOT, running_app
from tests.support.runs.embedded import trace_of

pytestmark = pytest.mark.e2e

SLOW_MS = 60_000
PAIR = "Open a pair: one draft model, and the same one with rounded weights"
SHOWS: dict[str, str | re.Pattern[str]] = {
    "runs": re.compile("lines · the sample"),
    "compare": PAIR,
    "query": "Ask the stored runs",
    "benchmark": "Past benchmarks",
    "k": "K to use",
    "technique": "Why",
    "cost": "saving per request",
}
"""What is there only where the page has something to show."""


@dataclass(frozen=True)
class App:
    url: str
    store: Path


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app as it is. Tests leave it as it was, but the last one."""
    store = tmp_path_factory.mktemp("first") / "runs.duckdb"
    log = store.with_name("app.log")
    with running_app(ROOT / "app.py", log, SPECVIZ_STORE=str(store)) as url:
        yield App(url, store)


def label(page: Page) -> Locator:
    return page.locator(".st-key-sample_label")


def post(app: App) -> None:
    """A run of your own, as a command sends it to the app that owns the store."""
    config = RunConfig(EngineKind.EMBEDDED, Method.DRAFT_MODEL, 3)
    now = datetime.now(UTC)
    run = Run("mine", "mine", config, RunStatus.FINISHED, now, now)
    events = tuple(events_of(trace_of(config)))
    request = RecordedRequest(Prompt("What is mine?"), events, RunStatus.FINISHED, now)
    assert post_run(app.url, run, [request], secret=read_secret(app.store))


def test_every_page_has_a_heading_no_violation_and_the_sample(page: Page, app: App) -> None:
    judged(page, "light").goto(app.url)
    for each in PAGES.values():
        page.get_by_role("link", name=each.title, exact=True).click()
        expect(page).to_have_title(f"{each.title} · specviz", timeout=SLOW_MS)
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text(each.title)
        expect(page.get_by_text(each.purpose, exact=True)).to_be_visible()
        box = page.locator(".page-heading").bounding_box()
        assert box is not None and box["y"] + box["height"] < 70  # one row: the page follows
        if shown := SHOWS.get(each.name):
            expect(page.get_by_text(shown, exact=True).first).to_be_visible(timeout=SLOW_MS)
            expect(label(page)).to_contain_text("Recorded on")
        assert violations(page) == [], each.name
        if each.name == "compare":
            page.get_by_text(PAIR).click()
            expect(page.get_by_text("Draft rounded to 3 bits").first).to_be_visible(timeout=SLOW_MS)
            intervals = page.get_by_text(re.compile("95 % intervals are over prompts")).first
            expect(intervals).to_be_visible(timeout=SLOW_MS)
            expect(label(page)).to_be_visible()


@pytest.mark.slow
def test_it_is_hidden_with_a_click_and_comes_back_with_one(page: Page, app: App) -> None:
    page.set_viewport_size({"width": 768, "height": 900})
    page.goto(f"{app.url}/k")
    expect(page).to_have_url(re.compile("k_benchmark="), timeout=SLOW_MS)
    page.get_by_role("heading", level=1).click()  # in a narrow window nothing lies over it
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.get_by_role("button", name="Hide the sample").click()
    expect(label(page)).to_have_count(0, timeout=SLOW_MS)
    expect(page).to_have_url(f"{app.url}/k", timeout=SLOW_MS)
    page.goto(f"{app.url}/runs")
    expect(page.get_by_text("No runs yet")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Show the sample").click()
    expect(page.get_by_text(SHOWS["runs"])).to_be_visible(timeout=SLOW_MS)


@pytest.mark.slow
def test_a_run_of_ones_own_takes_its_place_and_links_to_it_still_open(page: Page, app: App) -> None:
    page.goto(f"{app.url}/compare")
    link = page.get_by_role("link", name=PAIR)
    href = link.get_attribute("href", timeout=SLOW_MS)
    assert href is not None
    theirs = re.search(r"arms=(\w+)", href)
    assert theirs is not None
    post(app)
    page.goto(f"{app.url}/runs")
    expect(page.get_by_text(re.compile("^1 line · database"))).to_be_visible(timeout=SLOW_MS)
    expect(label(page)).to_have_count(0)
    page.goto(f"{app.url}/benchmark")  # no benchmark of your own yet
    expect(label(page)).to_contain_text("a benchmark of your own", timeout=SLOW_MS)
    page.goto(f"{app.url}/runs?run={theirs[1]}")
    expect(label(page)).to_contain_text("It is not among your runs.", timeout=SLOW_MS)
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)  # of a benchmark
    expect(page.get_by_role("button", name="Edit")).to_be_disabled()
    page.get_by_role("button", name="Show your own runs").click()
    expect(page.get_by_text(re.compile("^1 line · database"))).to_be_visible(timeout=SLOW_MS)
