"""The Query page: answers without SQL, with SQL, by a link; refusals; and text that stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from specviz.config import EngineKind, Run, RunConfig, RunStatus
from specviz.methods import Method
from specviz.store import open_store
from specviz.store.runs.tables import insert
from tests.support.apps.process import APPS, running_app
from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
RATES = {"code": [0.9, 0.8], "qa": [0.6, 0.5], HOSTILE: [0.7, 0.1]}


def fill(path: Path) -> None:
    """Three categories; the hostile one ends 60 of 100 drafts at position 2."""
    config = RunConfig(EngineKind.VLLM, Method.EAGLE3, k=2, traced=False)
    at = datetime(2026, 11, 1, tzinfo=UTC)
    with open_store(path) as store:
        store.start_run(Run("run", "group", config, RunStatus.RUNNING, at))
        store.finish_run("run", RunStatus.FINISHED)
        for place, (category, rates) in enumerate(RATES.items()):
            row: dict[str, Any] = {
                "request_id": str(place),
                "run_id": "run",
                "status": "finished",
                "started_at": at.replace(tzinfo=None),
                "category": category,
                "prompt": HOSTILE,
                "output_text": f"{HOSTILE} \u202e \x1b[31m",
                "num_drafts": 100,
                "num_draft_tokens": 200,
                "num_accepted_tokens": int(100 * sum(rates)),
                "acceptance_rate_per_pos": rates,
            }
            store.write(insert, "requests", row)


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("query")
    store = folder / "runs.duckdb"
    fill(store)
    with running_app(APPS / "embedded.py", folder / "app.log", SPECVIZ_STORE=str(store)) as url:
        yield url


@pytest.fixture(autouse=True)
def nothing_leaves(page: Page) -> Iterator[None]:
    """No request to another machine, and no script of the stored texts."""
    left: list[str] = []

    def look(request: Request) -> None:
        if not re.match(r"(https?|wss?)://127\.0\.0\.1|data:|blob:", request.url):
            left.append(request.url)

    page.context.on("request", look)
    yield
    page.context.remove_listener("request", look)
    assert left == []
    assert all(page.title() != "owned" for page in page.context.pages)


def editor(page: Page) -> Locator:
    return page.get_by_role("combobox", name="SQL", exact=True)


def ask(page: Page, sql: str) -> None:
    expect(editor(page)).to_be_visible(timeout=SLOW_MS)
    editor(page).fill(sql)
    page.get_by_role("button", name="Run", exact=True).click()


def shown(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(text).first).to_be_visible(timeout=SLOW_MS)


def test_a_new_user_finds_what_rejects_most_without_sql(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/query")
    page.get_by_role("button", name="Which category rejects most, and at which position?").click()
    shown(page, re.compile("^Most: <img src=x.* at position 2: 60.0 % of 100 drafts end there"))
    chart = page.locator(".js-plotly-plot")
    expect(chart.get_by_text("qa", exact=True)).to_be_visible(timeout=SLOW_MS)
    expect(chart.get_by_text("<img src=x onerror=", exact=False)).to_be_visible()
    expect(chart.locator("img")).to_have_count(0)
    shown(page, re.compile(r"^6 rows · [\d,]+ ms · data of .* UTC"))
    expect(editor(page)).to_have_value(re.compile("acceptance_rate_per_pos"))
    assert page.url.endswith("?question=category-position")
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    reported = json.loads(download.value.path().read_text())
    assert reported["rows"][0][:3] == [HOSTILE, 2, 60.0]

    page.get_by_role("button", name="Which requests failed, and why?").click()
    shown(page, "No stored request failed.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_an_address_with_an_unknown_question_is_said(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/query?question=nothing")
    shown(page, "There is no question 'nothing'")


@pytest.mark.slow
def test_a_filtered_question_shows_what_runs_and_keeps_its_filter(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/query?question=category-position&query_categories=qa&query_at_least=2")
    shown(page, re.compile("^Most: qa at position"))
    expect(editor(page)).to_have_value(re.compile(r"category IN \('qa'\)[^$]*>= 2"))
    page.get_by_role("button", name="Which method is accepted best in which category?").click()
    shown(page, re.compile("^Best: .* in qa"))
    expect(page).to_have_url(re.compile("question=category-method"))
    assert "query_categories=qa" in page.url and "at_least" not in page.url
    page.get_by_role("spinbutton", name="Smallest sample").fill("1000000")
    page.get_by_role("spinbutton", name="Smallest sample").press("Tab")
    shown(page, "Nothing stored passes these filters.")
    expect(page).to_have_url(re.compile("query_at_least=1000000"))


@pytest.mark.slow
def test_a_typed_query_its_plot_and_its_link(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/query")
    settled(page)
    editor(page).click()
    editor(page).press_sequentially("SELECT category, num_acc")
    option = page.get_by_role("option").first
    expect(option).to_contain_text("num_accepted_tokens")
    expect(option).to_contain_text("Draft tokens that the target accepted")
    editor(page).press("Tab")
    editor(page).press_sequentially(" FROM requests")
    editor(page).press("Escape")
    expect(editor(page)).to_have_value("SELECT category, num_accepted_tokens FROM requests")
    editor(page).press("Control+Enter")
    shown(page, "Plot: bars")
    expect(page.locator(".js-plotly-plot .bars path").first).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Plot: bars").click()
    page.get_by_role("combobox", name="Kind").click()
    page.get_by_role("option", name="points").click()
    expect(page).to_have_url(re.compile("plot=points"))
    page.keyboard.press("Escape")
    other = page.context.new_page()
    other.goto(page.url)
    shown(other, "This query came with the address: Run asks it.")
    expect(other.get_by_text(re.compile(r"rows? · [\d,]+ ms"))).to_have_count(0)
    other.get_by_role("button", name="Run", exact=True).click()
    shown(other, "Plot: points")
    expect(other.locator(".js-plotly-plot .points path")).to_have_count(3, timeout=SLOW_MS)
    expect(editor(other)).to_have_value("SELECT category, num_accepted_tokens FROM requests")


@pytest.mark.slow
def test_a_refused_query_keeps_its_text(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/query")
    ask(page, "DELETE FROM runs")
    shown(page, "DELETE is refused, because queries only read")
    expect(editor(page)).to_have_value("DELETE FROM runs")
    ask(page, f"SELECT '{HOSTILE.replace(chr(39), chr(39) * 2)}'::INTEGER")
    shown(page, re.compile("Could not convert string '<img src=x"))
    ask(page, "SELECT output_text, prompt FROM requests")
    shown(page, "A plot would not show more than the table.")
    expect(page.locator("canvas").first).to_be_visible(timeout=SLOW_MS)
    ask(page, "SELECT range AS n, 'x' AS word FROM range(5000)")
    shown(page, re.compile(r"^1,000 rows · [\d,]+ ms .* · cut off at 1,000 rows"))
    page.get_by_role("combobox", name="Rows at most").click()
    page.get_by_role("option", name="10,000 rows at most").click()
    shown(page, re.compile(r"^5,000 rows · "))
    expect(page).to_have_url(re.compile("rows=10000"))
    ask(page, "SELECT count(*) FROM range(1000000000000) a, range(1000000000000) b")
    page.get_by_role("button", name="Stop", exact=True).click()
    shown(page, "Stopped: Run asks again.")


@pytest.mark.slow
def test_saved_queries_and_what_columns_mean(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/query")
    expect(editor(page)).to_be_visible(timeout=SLOW_MS)
    editor(page).fill("SELECT 4711 AS mine, 'a' AS b")
    page.get_by_role("button", name="Save …", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("<b>mine</b>")
    dialog.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="<b>mine</b>", exact=True).click()
    shown(page, re.compile(r"^1 row · [\d,]+ ms"))
    expect(page).to_have_url(re.compile("sql=SELECT\\+4711"))
    page.get_by_test_id("stButtonGroup").get_by_text("Tables", exact=True).click()
    page.get_by_label("Find a column").fill("accepted / judged")
    page.get_by_label("Find a column").press("Enter")
    shown(page, "Accepted / judged draft tokens: a token after a rejection was never judged")
