"""The Benchmark page: a plan is made, started, followed, and its figures are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from tests.support.apps.process import APPS, running_app
from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
"""A page with tables and charts, on two busy cores."""

SHORT = """
name = "Short <b>plan</b>"
concurrency = [1, 8]
temperatures = [0.0, 0.7]
grid = "axes"
warmup = 0
max_tokens = 48
prompts = { count = 4 }
arms = [
    { engine = "vllm", method = "baseline" },
    { engine = "vllm", method = "draft_model", k = [2, 5] },
]
"""
LONG = SHORT.replace("count = 4", "count = 60").replace("[2, 5]", "[1, 2, 3, 4, 5, 6]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def app_url(folder: Path) -> Iterator[str]:
    script = APPS / "bench.py"
    store = str(folder / "runs.duckdb")
    with running_app(script, folder / "app.log", SPECVIZ_STORE=store) as url:
        yield f"{url}/benchmark"


def button(page: Page, name: str | re.Pattern[str]):
    return page.get_by_role("button", name=name, exact=True)


def section(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").first.get_by_text(name, exact=True).click()


def type_plan(page: Page, text: str) -> None:
    settled(page, 90_000)  # on slow cores, beside the suite, a page takes its time
    page.get_by_test_id("stButtonGroup").first.get_by_text("TOML", exact=True).click()
    box = page.get_by_label("Plan as TOML")
    box.fill(text)
    box.press("Control+Enter")


def start(page: Page, url: str, text: str, arms: int) -> None:
    """`arms`: of the text's plan; until it is read, the summary is that of the form."""
    page.goto(url)
    type_plan(page, text)
    expect(page.get_by_text(f"{arms} arms at")).to_be_visible(timeout=SLOW_MS)
    button(page, "Start").click()
    expect(page).to_have_url(re.compile(r"\?benchmark=\w+"), timeout=SLOW_MS)


def downloaded(page: Page, name: str | re.Pattern[str]) -> str:
    with page.expect_download() as waiting:
        button(page, name).click()
    found: Download = waiting.value
    return Path(found.path()).read_text(encoding="utf-8")


COUNT_SUMMARIES = """() => {
    window.most = 0;
    new MutationObserver(() => {
        const summaries = [...document.querySelectorAll("strong")].filter(
            (one) => one.textContent.includes(" arms at "));
        window.most = Math.max(window.most, summaries.length);
    }).observe(document.body, {subtree: true, childList: true});
}"""


def test_a_plan_is_typed_as_a_form_and_as_text(page: Page, app_url: str) -> None:
    """The page says what a plan amounts to, keeps what is typed, and names what is no plan."""
    page.goto(app_url)
    summary = page.get_by_text(re.compile("= 162 requests; 3 servers are started"))
    expect(summary).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text("None yet")).to_be_visible()
    concurrency = page.get_by_label("Concurrency", exact=True)
    concurrency.fill("1, many")
    concurrency.press("Enter")
    problem = page.get_by_test_id("stAlert")
    expect(problem).to_contain_text("Concurrency cannot be '1, many'")
    expect(button(page, "Start")).to_be_disabled()
    expect(concurrency).to_have_value("1, many")
    page.get_by_role("link", name="Servers").click()
    expect(page.get_by_role("button", name="Add a URL")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("link", name="Benchmark").click()
    expect(page.get_by_label("Concurrency", exact=True)).to_have_value("1, many")
    page.get_by_label("Concurrency", exact=True).fill("1, 2, 4")
    page.get_by_label("Concurrency", exact=True).press("Enter")
    expect(problem).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    settled(page)
    page.evaluate(COUNT_SUMMARIES)
    type_plan(page, SHORT)
    expect(page.get_by_text("3 arms at")).to_be_visible(timeout=SLOW_MS)
    assert page.evaluate("window.most") == 1  # two: the new one above the old one
    box = page.get_by_label("Plan as TOML")
    box.fill("name = ")
    box.press("Control+Enter")
    expect(problem.first).to_contain_text("The plan is not TOML", timeout=SLOW_MS)
    page.get_by_test_id("stButtonGroup").first.get_by_text("Form", exact=True).click()
    expect(page.get_by_label("Plan as TOML")).to_have_value("name = ")


@pytest.mark.slow
def test_arms_are_added_and_removed_and_carried_to_toml(page: Page, app_url: str) -> None:
    page.goto(app_url)
    settled(page)
    button(page, "Add an arm").click()
    k = page.get_by_label("K of arm 7")
    k.fill("1-3, 8")
    k.press("Enter")
    expect(page.get_by_text("10 arms at")).to_be_visible(timeout=SLOW_MS)
    page.locator(".st-key-bench_remove_0 button:visible").first.click()
    expect(page.get_by_text("9 arms at")).to_be_visible(timeout=SLOW_MS)
    page.get_by_test_id("stButtonGroup").first.get_by_text("TOML", exact=True).click()
    expect(page.get_by_label("Plan as TOML")).to_have_value(re.compile(r"k = \[1, 2, 3, 8\]"))
    page.get_by_test_id("stButtonGroup").first.get_by_text("Form", exact=True).click()
    expect(page.get_by_label("K of arm 6")).to_have_value("1-3, 8")


def test_a_benchmark_from_start_to_its_figures(page: Page, app_url: str) -> None:
    start(page, app_url, SHORT, arms=3)
    expect(page.get_by_role("heading", name="Short <b>plan</b>")).to_be_visible(timeout=SLOW_MS)
    expect(button(page, "All results as JSON")).to_be_visible(timeout=60_000)
    settled(page)

    expect(page.get_by_text("Measured here", exact=True)).to_be_visible()
    expect(page.get_by_text("Published in the documents, not measured here")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2, timeout=SLOW_MS)
    section(page, "Checks")
    expect(page.get_by_text("counts of the requests next to")).to_be_visible(timeout=SLOW_MS)
    expect(page).to_have_url(re.compile(r"[?&]bench_section=Checks\b"))

    document = json.loads(downloaded(page, "All results as JSON"))
    assert document["benchmark"]["status"] == "finished"
    cells = document["results"]["cells"]
    assert {(cell["arm"], cell["requests"]) for cell in cells} == {
        ("baseline", 4),
        ("draft_model · K 2", 4),
        ("draft_model · K 5", 4),
    }
    checks = {check["arm"]: check for check in document["results"]["checks"]}
    for arm in ("draft_model · K 2", "draft_model · K 5"):
        assert checks[arm]["num_drafts"] == checks[arm]["server_drafts"] > 0
    settled(page)  # what opens while the page is drawn is closed again
    button(page, "Export").click()
    settled(page)
    button(page, "Prepare the file").click()
    button(page, re.compile(r"^Download \d")).wait_for(timeout=60_000)
    one_file = downloaded(page, re.compile(r"^Download \d"))
    assert one_file.lower().startswith("<!doctype html>")
    assert "Short &lt;b&gt;plan&lt;/b&gt;" in one_file
    page.keyboard.press("Escape")


@pytest.mark.slow
def test_a_listed_benchmark_opens_and_its_plan_is_used_again(
    page: Page, app_url: str, folder: Path
) -> None:
    start(page, app_url, SHORT, arms=3)
    opened = page.url
    for name, shown in (
        ("K", "K, draft tokens per step"),
        ("Concurrency", "concurrency (log2)"),
        ("Temperature", "published: off above 1.0"),
    ):
        expect(button(page, "All results as JSON")).to_be_visible(timeout=60_000)
        section(page, name)
        expect(page.get_by_text(shown)).to_be_visible(timeout=SLOW_MS)
    page.reload()  # a link opens its section
    expect(page.get_by_text(shown)).to_be_visible(timeout=SLOW_MS)
    section(page, "Plan")
    expect(page.get_by_test_id("stCode")).to_contain_text("draft_model", timeout=SLOW_MS)
    section(page, "Overall")
    assert "tpot_p95_ms" in downloaded(page, "Measured figures as CSV, in full")
    page.get_by_role("link", name="All benchmarks").click()
    expect(page.get_by_text("Select one to open it")).to_be_visible(timeout=SLOW_MS)
    settled(page)  # the figures' table, which is about to go, would be clicked instead
    past = page.get_by_test_id("stDataFrame")
    expect(past).to_have_count(1)
    slow = folder / "slow"
    slow.touch()
    past.click(position={"x": 16, "y": 52})
    expect(page).to_have_url(opened, timeout=SLOW_MS)
    button(page, "Use its plan again").click()  # before the figures are there
    expect(page.get_by_label("Name", exact=True)).to_have_value("Short <b>plan</b>")
    settled(page)
    expect(page).to_have_url(app_url)
    slow.unlink()
    past.click(position={"x": 16, "y": 52})  # the same line opens it again
    expect(page).to_have_url(opened, timeout=SLOW_MS)
    settled(page)
    section(page, "Plan")
    expect(page).to_have_url(re.compile(r"[?&]bench_section=Plan\b"))


@pytest.mark.slow
def test_a_benchmark_pauses_ends_and_is_taken_up_again(page: Page, app_url: str) -> None:
    start(page, app_url, LONG, arms=7)
    expect(page.get_by_text(re.compile(r"^[1-9]\d* of [\d,]+ requests"))).to_be_visible(
        timeout=SLOW_MS
    )
    button(page, "Pause").click()
    expect(page.get_by_text(re.compile("requests · paused"))).to_be_visible(timeout=SLOW_MS)
    button(page, "Continue").click()
    expect(button(page, "Pause")).to_be_visible(timeout=SLOW_MS)
    button(page, "Cancel").click()
    expect(page.get_by_text(re.compile(r"Cancelled: [\d,]+ requests are missing"))).to_be_visible(
        timeout=SLOW_MS
    )
    expect(button(page, "All results as JSON")).to_be_visible(timeout=SLOW_MS)
    button(page, "Resume").click()
    expect(button(page, "Pause")).to_be_visible(timeout=SLOW_MS)

    opened = page.url
    page.goto(app_url)
    expect(button(page, "Start")).to_be_disabled(timeout=SLOW_MS)
    button(page, "Show it").click()
    expect(page).to_have_url(opened)
    button(page, "Cancel").click()
    expect(button(page, "Resume")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("link", name="All benchmarks").click()
    expect(page.get_by_text("Select one to open it")).to_be_visible(timeout=SLOW_MS)


def test_an_unknown_benchmark_is_said_to_be_unknown(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}?benchmark=none")
    expect(page.get_by_test_id("stAlert")).to_contain_text("no benchmark none", timeout=SLOW_MS)
