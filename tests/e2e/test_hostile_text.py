"""Model text of markup, scripts, SQL and terminal escapes stays text wherever a user meets it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.apps.hostile import MARK, TEXTS
from tests.support.apps.process import APPS, ROOT, running_app
from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
SCRIPT = f"{TEXTS[0]}{MARK}0"
MARKUP = "img[src*=hacked], iframe[srcdoc], svg[onload], [onerror], a[href^=javascript]"


@pytest.fixture(scope="module")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "runs.duckdb"


@pytest.fixture(scope="module")
def app_url(store_path: Path) -> Iterator[str]:
    script = APPS / "hostile.py"
    log = store_path.with_name("app.log")
    with running_app(script, log, SPECVIZ_STORE=str(store_path)) as url:
        yield url


@pytest.fixture(scope="module")
def stored(app_url: str, chromium: Browser) -> list[str]:
    """The ids of the two runs of one answer."""
    page = chromium.new_page()
    answer_once(page, app_url)
    page.close()
    return [run_id for (run_id,) in answers(app_url, "SELECT run_id FROM runs ORDER BY run_id")]


@pytest.fixture
def watched(page: Page) -> Iterator[Page]:
    """Fails if the page asked another host for anything, or for what the texts ask for."""
    asked: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    yield page
    hosts = {urllib.parse.urlsplit(url).hostname for url in asked if not url.startswith("file:")}
    assert hosts <= {"127.0.0.1", None}
    assert not [url for url in asked if "hacked" in urllib.parse.urlsplit(url).path]
    assert dialogs == []


def unharmed(page: Page) -> None:
    """No script of the texts ran and none of their markup became an element."""
    for frame in page.frames:
        assert frame.evaluate("typeof window.hacked") == "undefined"
    assert page.locator(MARKUP).count() == 0
    assert "title" not in page.title()


def seen(page: Page, text: str = SCRIPT) -> None:
    expect(page.get_by_text(text).first).to_be_attached(timeout=SLOW_MS)
    unharmed(page)


def answers(url: str, sql: str) -> list[list[str]]:
    body = json.dumps({"sql": sql, "limit": 1000}).encode()
    with urllib.request.urlopen(f"{url}/api/query", data=body, timeout=30) as answer:
        found: list[list[str]] = json.load(answer)["rows"]
    return found


def answer_once(page: Page, app_url: str) -> None:
    page.goto(app_url)
    prompt = page.get_by_role("textbox", name="Prompt")
    prompt.fill("".join(TEXTS))
    prompt.press("Control+Enter")
    page.get_by_role("button", name="Run", exact=True).click()
    finished = page.locator(".pane[data-phase=finished]")
    expect(finished.nth(1)).to_be_visible(timeout=SLOW_MS)


def test_while_it_is_answered_after_and_in_queries(watched: Page, app_url: str) -> None:
    before = answers(app_url, "SELECT run_id FROM runs")
    answer_once(watched, app_url)
    seen(watched)
    for place in range(len(TEXTS)):
        box = watched.locator(".pane .box", has_text=f"{MARK}{place}").first
        expect(box).to_be_attached()
        box.hover(force=True)
        unharmed(watched)
    runs = answers(app_url, "SELECT run_id FROM runs")
    assert len(runs) == len(before) + 2
    texts = answers(app_url, "SELECT DISTINCT text FROM decisions")
    assert {text for (text,) in texts} == {f"{text}{MARK}{n}" for n, text in enumerate(TEXTS)}

    sql = "SELECT text, count(*) AS n FROM decisions GROUP BY text ORDER BY text"
    watched.goto(f"{app_url}/query?{urllib.parse.urlencode({'sql': sql})}")
    settled(watched)
    watched.get_by_role("button", name="Run", exact=True).click(timeout=SLOW_MS)
    expect(watched.get_by_text(re.compile(f"{len(TEXTS)} rows"))).to_be_visible(timeout=SLOW_MS)
    unharmed(watched)


@pytest.mark.slow
def test_in_the_list_in_a_run_and_side_by_side(
    watched: Page, app_url: str, stored: list[str]
) -> None:
    watched.goto(f"{app_url}/runs")
    expect(watched.get_by_test_id("stDataFrame")).to_be_visible(timeout=SLOW_MS)
    unharmed(watched)
    watched.goto(f"{app_url}/runs?run={stored[0]}")
    watched.locator(".pane .box").first.wait_for(timeout=SLOW_MS)
    for section in ("Draft tree", "Time line", "Acceptance by position", "Configuration"):
        watched.get_by_test_id("stButtonGroup").get_by_text(section, exact=True).click()
        watched.wait_for_timeout(300)
        unharmed(watched)
    watched.goto(f"{app_url}/compare?arms={','.join(stored)}")
    seen(watched)


@pytest.mark.slow
def test_in_a_report_that_is_opened_from_the_disk(
    watched: Page, stored: list[str], store_path: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report.html"
    command = [sys.executable, "-m", "specviz", "export", stored[0], "--format", "html"]
    done = subprocess.run(
        [*command, "-o", str(report), "--db", str(store_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    watched.goto(report.as_uri())
    seen(watched)
    watched.wait_for_timeout(500)
    unharmed(watched)
