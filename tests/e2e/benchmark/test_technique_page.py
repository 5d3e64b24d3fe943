"""The Technique page: every end of the tree by a click, the address, sources, the draft."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz import runtime
from specviz.analysis.advisor.branches import LEAVES
from specviz.bench.plan.toml import parse_plan
from tests.support.apps.bench import clocks
from tests.support.apps.process import APPS, running_app
from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000

PLAN = """
name = "Made <b>up</b> $1$"
concurrency = [1]
temperatures = [0.0]
warmup = 0
max_tokens = 24
prompts = { count = 12 }
arms = [
    { engine = "vllm", method = "baseline" },
    { engine = "vllm", method = "eagle3", k = 3 },
]
"""


@dataclass(frozen=True)
class App:
    url: str
    benchmark_id: str


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("technique")
    store = folder / "runs.duckdb"
    with runtime.opened(store, timed_arms=clocks) as current:
        benchmark_id = current.benchmarks.start(parse_plan(PLAN))
        assert current.benchmarks.wait(benchmark_id, 60)
    script = APPS / "embedded.py"
    with running_app(script, folder / "app.log", SPECVIZ_STORE=str(store)) as url:
        yield App(f"{url}/technique", benchmark_id)


@pytest.fixture(scope="module")
def measuring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An empty store, and arms that are clocks."""
    folder = tmp_path_factory.mktemp("measuring")
    script = APPS / "bench.py"
    store = str(folder / "runs.duckdb")
    with running_app(script, folder / "app.log", SPECVIZ_STORE=store) as url:
        yield f"{url}/technique"


def box(page: Page, name: str) -> Locator:
    return page.locator(f".box[data-id={name}]")


def lit(page: Page, name: str) -> None:
    """Counted, since for a moment the tree before is there too."""
    expect(page.locator(f".box.path[data-id={name}]")).to_have_count(1, timeout=SLOW_MS)
    expect(page.locator(".leaf.path")).to_have_count(1)
    expect(box(page, name)).to_have_count(1)


def unfold(page: Page, title: str) -> None:
    page.get_by_test_id("stExpander").get_by_text(title, exact=True).click(timeout=SLOW_MS)


def opened(page: Page, url: str) -> None:
    """With the whole tree unfolded."""
    page.goto(url, wait_until="commit")
    unfold(page, "All questions and the whole tree")
    expect(box(page, "speedup")).to_be_visible(timeout=SLOW_MS)


@pytest.mark.slow
def test_every_leaf_is_reached_by_a_click(page: Page, app: App) -> None:
    opened(page, app.url)
    lit(page, "best_measured")  # by the stored benchmark
    page.get_by_role("button", name="Clear all answers").click()
    expect(page.locator(".leaf.path")).to_have_count(0)
    for leaf in LEAVES:
        if leaf != "best_measured":
            box(page, leaf).click()
            lit(page, leaf)
    box(page, "best_measured").click()
    expect(page.get_by_text("choose a benchmark in which a method gains")).to_be_visible()
    settled(page)  # a button that is about to be drawn again loses the click
    page.get_by_role("button", name="Clear all answers").click()
    expect(page.locator(".leaf.path")).to_have_count(0)
    settled(page)
    benchmarks = page.get_by_role("combobox", name="Use a benchmark")
    benchmarks.hover()  # scrolls to it: a list that is open while the page scrolls is closed
    settled(page)
    benchmarks.click()
    page.get_by_role("option").first.click()
    lit(page, "best_measured")
    expect(box(page, "speedup")).to_contain_text("measured here")
    expect(page.get_by_role("heading", name="On: EAGLE-3, K 3")).to_be_visible()
    expect(page.get_by_text('benchmark "Made <b>up</b> $1$"').first).to_be_visible()
    unfold(page, "Launch command and router")
    expect(page.get_by_test_id("stCode").first).to_contain_text("vllm serve")
    expect(page.get_by_test_id("stCode").last).to_contain_text("[speculation.concurrency]")
    expect(page).to_have_url(re.compile(f"benchmark={app.benchmark_id}"))
    fits = page.get_by_role("radiogroup", name="Draft fits")
    fits.get_by_text("no", exact=True).click()
    expect(page.locator(".leaf.path")).to_have_count(0)  # EAGLE-3 is out: the rules have to say
    box(page, "best_measured").click()
    lit(page, "best_measured")
    expect(page).not_to_have_url(re.compile("draft_fits"))
    box(page, "off_concurrency").click()  # a rule's end: the benchmark is left out
    lit(page, "off_concurrency")
    expect(page).not_to_have_url(re.compile("benchmark="))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_the_address_says_everything_and_wrong_values_are_named(page: Page, app: App) -> None:
    query = "temperature=hot&concurrency=8&spare_memory_gb=4&light_training=yes&target_swapped=no"
    more = "&gpu_utilization=0.3&output_tokens=200&draft_fits=yes&nonsense=1&benchmark=gone"
    opened(page, f"{app.url}?{query}{more}")
    lit(page, "medusa")
    alerts = page.get_by_test_id("stAlert")
    expect(alerts.filter(has_text="temperature is a number from 0 to 2, not 'hot'")).to_be_visible()
    expect(alerts.filter(has_text="nonsense")).to_be_visible()
    expect(alerts.filter(has_text="no stored benchmark")).to_be_visible()
    expect(page).not_to_have_url(re.compile("temperature|nonsense|gone"))
    temperature = page.get_by_label("Temperature", exact=True)
    temperature.fill("1.2")
    temperature.press("Enter")
    lit(page, "off_temperature")
    expect(page).to_have_url(re.compile("temperature=1.2"))
    expect(alerts).to_have_count(0)
    expect(box(page, "temperature")).to_contain_text("flips at or below 1.0, 0.2 away")
    other = page.context.new_page()
    opened(other, page.url)
    lit(other, "off_temperature")
    expect(other.get_by_label("Temperature", exact=True)).to_have_value("1.2")
    expect(other.get_by_role("spinbutton", name="GPU in use, %")).to_have_value("30")


@pytest.mark.slow
def test_measure_ends_in_a_recommendation_that_says_how_sure(page: Page, measuring: str) -> None:
    page.goto(measuring, wait_until="commit")
    expect(page.get_by_role("heading", name="Answer five questions")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text("How sure")).to_have_count(0)  # nothing is known yet
    page.get_by_role("button", name="Measure").click()
    expect(page.get_by_text("How sure: Measured over 18 prompts")).to_be_visible(
        timeout=2 * SLOW_MS
    )
    expect(page.get_by_role("heading", name=re.compile("^On: "))).to_be_visible()
    expect(
        page.get_by_text(re.compile("From the benchmark Methods in two minutes"))
    ).to_be_visible()
    expect(page).to_have_url(re.compile(r"benchmark=\w{32}"))


def asked(page: Page, number: int, name: str) -> None:
    """The question is there, and the address that is written last says so."""
    expect(page.get_by_text(f"Question {number} of 5")).to_be_visible()
    expect(page).to_have_url(re.compile(f"ask={name}"))


def test_the_draft_check_then_five_questions(page: Page, app: App) -> None:
    page.goto(app.url, wait_until="commit")
    heading = page.get_by_role("heading", name="On: EAGLE-3, K 3")
    expect(heading).to_be_visible(timeout=SLOW_MS)  # the stored benchmark, unasked
    expect(page.get_by_text(re.compile(r"^\d\.\d\d× faster output \("))).to_be_visible()
    expect(page).to_have_url(re.compile(f"benchmark={app.benchmark_id}"))
    unfold(page, "Draft model check")
    expect(page.get_by_text("tokenizer.json is byte-identical")).to_be_visible()
    draft = page.get_by_label("Draft folder")
    draft.fill("org/<i>model</i>")
    draft.press("Enter")
    reason = page.get_by_text("org/<i>model</i> is not a folder on this machine")
    expect(reason.first).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text("? unknown")).to_have_count(6)
    settled(page)
    page.get_by_role("button", name="Start").click()
    expect(page).not_to_have_url(re.compile("benchmark="))
    answer_four(page)
    page.get_by_label("Spare memory, GB").fill("20")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="On: EAGLE-3, K 5")).to_be_visible()
    expect(page.get_by_text("How sure: By rules of thumb, nothing was measured")).to_be_visible()
    expect(page).not_to_have_url(re.compile("ask="))
    expect(page).to_have_url(re.compile("gpu_utilization=0.3"))


def answer_four(page: Page) -> None:
    """The five questions, one at a time."""
    asked(page, 1, "gpu_utilization")
    busy = page.get_by_label("GPU in use, %")
    busy.fill("30")
    busy.press("Enter")
    asked(page, 2, "output_tokens")
    page.get_by_label("Answer, tokens").fill("300")
    page.get_by_role("button", name="Next").click()
    asked(page, 3, "draft_fits")
    page.get_by_role("button", name="Yes").click()
    asked(page, 4, "target_swapped")
    page.get_by_role("button", name="No", exact=True).click()
    asked(page, 5, "spare_memory_gb")


@pytest.mark.slow
def test_a_question_has_a_link_a_way_back_and_one_more(page: Page, app: App) -> None:
    page.goto(app.url, wait_until="commit")
    page.get_by_role("button", name="Start").click(timeout=SLOW_MS)
    answer_four(page)
    page.reload(wait_until="commit")  # the link is at the same question
    asked(page, 5, "spare_memory_gb")
    expect(page.get_by_role("button", name="Mean answer length: 300 tokens")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="GPU utilisation while generating: 30 %").click()
    asked(page, 1, "gpu_utilization")
    expect(page.get_by_label("GPU in use, %")).to_have_value("30")
    page.get_by_role("button", name="Next").click()
    asked(page, 5, "spare_memory_gb")  # what is answered is not asked again
    page.get_by_label("Spare memory, GB").fill("20")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="On: EAGLE-3, K 5")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Answer", exact=True).last.click()  # what the path passed
    expect(page.get_by_text("One more question")).to_be_visible()
    expect(page).to_have_url(re.compile("ask=acceptance"))
    page.get_by_label("Acceptance, %").fill("20")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="Off: find a better draft")).to_be_visible()


@pytest.mark.slow
def test_a_link_of_an_earlier_version_opens_the_same_page(page: Page, app: App) -> None:
    former = app.url.replace("/technique", "/decide")
    opened(page, f"{former}?temperature=1.2&gpu_utilization=0.3&benchmark={app.benchmark_id}")
    expect(page).to_have_url(re.compile(r"/technique\?"))
    expect(page).to_have_url(re.compile("temperature=1.2"))
    expect(page).to_have_url(re.compile(f"benchmark={app.benchmark_id}"))
    expect(page.get_by_label("Temperature", exact=True)).to_have_value("1.2")
    expect(page.get_by_role("spinbutton", name="GPU in use, %")).to_have_value("30")
    expect(page.get_by_role("link", name="Technique")).to_have_count(1)
