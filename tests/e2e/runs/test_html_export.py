"""The HTML export, opened as a file: it replays, and whatever is in it stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from specviz.report import export
from specviz.store import open_store
from specviz.store.exchange import Format
from tests.support.store.exchange_samples import HOSTILE, filled

IDS = ["plain", "hostile", "failed", "partial", "bench", "e"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("html")
    with open_store(folder / "runs.duckdb") as store:
        filled(store)
        export(store, IDS, Format.HTML, folder / "report.html")
    return folder / "report.html"


@pytest.fixture(params=[pytest.param("light", marks=pytest.mark.slow), "dark"])
def page(chromium: Browser, file: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The opened file; fails if it asked for anything, ran anything foreign or had an error."""
    context = chromium.new_context(color_scheme=request.param)
    opened = context.new_page()
    asked: list[str] = []
    errors: list[str] = []
    opened.on("request", lambda one: asked.append(one.url))
    opened.on("pageerror", lambda one: errors.append(str(one)))
    opened.on("console", lambda one: errors.append(one.text))
    opened.on("dialog", lambda one: (errors.append(one.message), one.dismiss()))
    opened.goto(file.as_uri())
    yield opened
    assert {url.split("#")[0] for url in asked} <= {file.as_uri(), "about:blank"}
    assert errors == []
    context.close()


def test_it_replays_and_explains(page: Page) -> None:
    pane = page.locator(".pane").first
    expect(pane.locator(".step").first).to_be_visible()
    pane.locator(".step").first.click()
    expect(page.locator(".step-head")).to_contain_text("step 1 of 3")
    page.locator("button[data-do=back]").click()
    page.locator("button[data-do=play]").click()
    expect(pane.locator(".step")).to_have_count(3)
    pane.locator(".tok").first.hover()
    expect(page.locator("#tip")).to_contain_text("drafted, and the target agreed")
    expect(page.get_by_text("Configuration").first).to_be_visible()
    expect(page.locator(".left-out")).to_contain_text("single requests of benchmarks are not in")
    light = page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shade == ("rgb(255, 255, 255)" if light else "rgb(15, 18, 22)")


def test_it_is_presented_and_its_address_opens_the_same_step(page: Page) -> None:
    page.locator(".pane .step").nth(1).click()
    page.get_by_role("button", name="Present").click()
    expect(page.locator("[data-show=step]")).to_have_text("Step 2 of 3")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".caption")).not_to_be_empty()
    opened = page.url
    page.goto("about:blank")
    page.goto(opened)
    expect(page.locator("[data-show=step]")).to_have_text("Step 3 of 3")
    page.get_by_role("button", name="Leave").click()
    expect(page.locator(".step-head")).to_contain_text("step 3 of 3")


def test_an_address_names_the_replay_too(page: Page) -> None:
    page.locator("#replay-choice").select_option(index=1)
    page.locator(".pane .step").first.click()
    opened = page.url
    page.goto("about:blank")
    page.goto(opened)
    expect(page.locator("#replay-choice")).to_have_value("1")
    expect(page.locator(".step-head")).to_contain_text("step 1 of")


def test_hostile_text_comes_out_as_text(page: Page) -> None:
    page.locator("#replay-choice").select_option(index=1)
    token = page.locator(".pane .tok").first
    expect(token).to_contain_text("</script><script>alert(1)</script>")
    answers = page.locator("pre").all_text_contents()
    assert any(HOSTILE[:60] in answer for answer in answers)
    assert (
        page.evaluate("document.querySelectorAll('img, iframe, object, embed, link').length") == 0
    )
    assert page.evaluate("document.scripts.length") == 2
    assert not any("\u202e" in text or "\x1b" in text for text in [page.inner_text("body")])


def test_only_its_own_script_may_run(chromium: Browser, file: Path) -> None:
    """The policy holds even where text had become markup."""
    page = chromium.new_page()
    page.goto(file.as_uri())
    ran = page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.foreign = true";
            document.body.append(script);
            const image = document.createElement("div");
            image.innerHTML = '<img src="http://127.0.0.1:9/x" onerror="window.foreign = true">';
            document.body.append(image);
            return new Promise((done) => setTimeout(() => done(window.foreign === true), 200));
        }"""
    )
    assert ran is False
    policy = page.locator("meta[http-equiv]").get_attribute("content") or ""
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-\S+'; style-src( 'sha256-\S+'){2}; "
        r"base-uri 'none'; form-action 'none'",
        policy,
    )
    page.close()
