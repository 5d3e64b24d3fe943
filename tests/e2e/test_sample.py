"""The first start: pages show the sample and say so until you hide it or have a run of your own."""

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
from tests.support.apps.process import ROOT, running_app
from tests.support.browsers import settled
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


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    store = tmp_path / "runs.duckdb"
    log = tmp_path / "app.log"
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


def test_every_page_shows_the_sample_labelled_and_its_pair_is_a_regression(
    page: Page, app: App
) -> None:
    for name, shown in SHOWS.items():
        page.goto(f"{app.url}/{name}", wait_until="commit")
        expect(page.get_by_text(shown, exact=True).first).to_be_visible(timeout=SLOW_MS)
        expect(label(page)).to_contain_text("Recorded on")
        expect(label(page)).to_contain_text("with the demo models")
    page.goto(f"{app.url}/compare")
    settled(page)
    page.get_by_text(PAIR).click(timeout=SLOW_MS)
    expect(page.get_by_text("Draft rounded to 3 bits").first).to_be_visible(timeout=SLOW_MS)
    intervals = page.get_by_text(re.compile("95 % intervals are over prompts")).first
    expect(intervals).to_be_visible(timeout=SLOW_MS)
    expect(label(page)).to_be_visible()


def test_it_is_hidden_with_a_click_and_comes_back_with_one(page: Page, app: App) -> None:
    page.goto(f"{app.url}/k")
    expect(page).to_have_url(re.compile("k_benchmark="), timeout=SLOW_MS)
    sections = page.get_by_test_id("stButtonGroup").last
    sections.get_by_text("Policy", exact=True).click(timeout=SLOW_MS)
    expect(page).to_have_url(re.compile("k_section=Policy"), timeout=SLOW_MS)
    page.get_by_role("button", name="Hide the sample").click()
    expect(label(page)).to_have_count(0, timeout=SLOW_MS)
    expect(page).to_have_url(f"{app.url}/k", timeout=SLOW_MS)
    page.goto(f"{app.url}/runs")
    expect(page.get_by_text("No runs yet")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Show the sample").click()
    expect(page.get_by_text(SHOWS["runs"])).to_be_visible(timeout=SLOW_MS)


def test_a_run_of_ones_own_takes_its_place_and_links_to_it_still_open(page: Page, app: App) -> None:
    page.goto(f"{app.url}/runs")
    expect(page.get_by_text(SHOWS["runs"])).to_be_visible(timeout=SLOW_MS)
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
