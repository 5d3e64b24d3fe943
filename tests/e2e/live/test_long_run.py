"""4000 tokens at full speed through the real page, socket and store."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.apps.process import APPS, running_app
from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

LAST_TEXT = "THE-END"
# the last token is on the page when its text is
LAST_TOKEN_SHOWN = """([text, arms]) => {
    const seen = (root) => [...root.querySelectorAll("*")].flatMap((element) =>
        element.shadowRoot ? [...element.shadowRoot.querySelectorAll(".pane .text"),
                              ...seen(element.shadowRoot)] : []);
    const panes = seen(document);
    return panes.length === arms && panes.every((pane) => pane.textContent.includes(text));
}"""


@pytest.mark.slow
def test_a_long_run_is_shown_to_its_last_token(page: Page, tmp_path: Path) -> None:
    store = str(tmp_path / "runs.duckdb")
    with running_app(APPS / "replay.py", tmp_path / "log", SPECVIZ_STORE=store) as url:
        page.goto(url)
        settled(page)
        page.get_by_label("Prompt").fill("anything")
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_function(LAST_TOKEN_SHOWN, arg=[LAST_TEXT, 2], polling=50, timeout=300_000)

        page.locator(".pane").nth(1).locator(".box.accepted").last.hover()
        expect(page.locator("[data-part=tip]")).to_contain_text("accepted")
        page.locator(".pane").nth(1).locator(".step").last.click()
        expect(page.locator("[data-part=inspector]")).to_contain_text("target")

        page.get_by_text("Open the stored run").click()
        expect(page.locator(".pane")).to_have_count(2)
        page.wait_for_function(LAST_TOKEN_SHOWN, arg=[LAST_TEXT, 2], timeout=300_000)
