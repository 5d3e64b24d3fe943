"""The Learn page: every section, on a store that is empty, and a stored run instead of ours."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.apps.process import ROOT
from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
"""A page with tables and charts, on two busy cores."""


def section(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").first.get_by_text(name, exact=True).click()


def figure(page: Page, name: str) -> Locator:
    """The figure under this name in a row of figures."""
    return page.get_by_text(name, exact=True).locator("xpath=following-sibling::div")


def press_slider(page: Page, label: str, key: str, times: int = 1) -> None:
    slider = page.get_by_test_id("stSlider").filter(has_text=label).get_by_role("slider")
    for _ in range(times):
        slider.press(key)


def test_every_section_opens_and_an_answer_leads_to_what_shows_it(
    page: Page, bare_url: str
) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(f"{bare_url}/learn")
    assert ground_of_a_saved_chart(page) == "#0f1216"
    shown = {
        "Formula": "What the documents say, and what the formula gives for it",
        "Roofline": "batch: sequences decoded at once (log2)",
        "Mechanisms": "Boxes: target / draft probability",
        "Overlap": "both at once",
        "Rejection": "drawn after a rejection",
        "Quiz": "1. Which technique has the highest",
    }
    for name, words in shown.items():
        section(page, name)
        expect(page.get_by_text(words).first).to_be_visible(timeout=SLOW_MS)
        expect(page).to_have_url(re.compile(f"section={name}"))
        expect(page.get_by_text("Where the documents disagree").first).to_be_visible(
            timeout=SLOW_MS
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    answer = page.get_by_text("It copies n-grams of the context.")
    expect(answer).to_be_hidden(timeout=SLOW_MS)
    page.get_by_text("Why is Prompt Lookup's accept ratio only 0.41?").click()
    expect(answer).to_be_visible()
    settled(page)  # the answer is unfolding: a button that moves may miss the click
    page.get_by_role("button", name="Learn: see it").locator("visible=true").click()
    expect(page).to_have_url(
        re.compile("section=Mechanisms.*method=ngram|method=ngram.*section=Mechanisms"),
        timeout=SLOW_MS,
    )
    expect(page.get_by_text("No model drafts: the last tokens are looked up")).to_be_visible()


@pytest.mark.slow
def test_presets_and_shared_weights_of_rejection_sampling(page: Page, bare_url: str) -> None:
    page.goto(f"{bare_url}/learn")
    accepted = figure(page, "acceptance, Σ min(target, draft)")
    expect(accepted).to_have_text("0.900", timeout=SLOW_MS)
    page.get_by_role("button", name="disjoint").click()
    expect(accepted).to_have_text("0.000")
    expect(page).to_have_url(re.compile("target=0.6%2C0.4%2C0%2C0"))
    page.goto(f"{bare_url}/learn?target=5,3,2&draft=2,3,5")
    expect(accepted).to_have_text("0.700", timeout=SLOW_MS)
    notice = page.get_by_text("Divided by their sum: target summed to 10, draft summed to 10.")
    expect(notice).to_be_visible()
    press_slider(page, "Draft tokens drawn", "ArrowRight", 2)
    expect(page).to_have_url(re.compile("draws=1%2C000%2C000|draws=1,000,000"), timeout=SLOW_MS)
    page.goto(f"{bare_url}/learn?target=1,2&draft=2,1")
    expect(page.get_by_test_id("stAlert")).to_contain_text("at least 3 tokens", timeout=SLOW_MS)


@pytest.mark.slow
def test_sliders_move_the_formula_and_the_roofline(page: Page, bare_url: str) -> None:
    page.goto(f"{bare_url}/learn?section=Formula&alpha=0.6")
    best = figure(page, "best K")
    expect(best).to_have_text("4", timeout=SLOW_MS)
    press_slider(page, "c: time of one draft token", "Home")
    expect(best).to_have_text("15")
    section(page, "Roofline")
    gain = figure(page, "speed-up at this batch")
    expect(gain).to_have_text("2.38×", timeout=SLOW_MS)  # α 0.6, K 5, c 0
    expect(figure(page, "plain decoding")).to_have_text("14.3 tok/s")
    batch = page.get_by_label("Batch, sequences")
    batch.fill("156")
    batch.press("Enter")
    expect(gain).to_have_text("0.40×")  # six times the compute
    page.get_by_test_id("stSelectbox").first.click()
    page.get_by_role("option", name="L4 24GB").click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("Fill in the blank field")
    peak = page.get_by_label("Peak compute, TFLOPS each")
    peak.fill("100")
    peak.press("Enter")
    expect(page.get_by_text("140 GB of weights do not fit into 1 × 24 GB")).to_be_visible()
    expect(gain).to_be_visible()


@pytest.mark.slow
def test_a_mechanism_plays_to_its_end(page: Page, bare_url: str) -> None:
    page.goto(f"{bare_url}/learn?section=Mechanisms&method=eagle&step=99")
    value = page.get_by_test_id("stSlider").get_by_test_id("stSliderThumbValue")
    expect(value).to_be_visible(timeout=SLOW_MS)
    last = int(page.get_by_role("slider").get_attribute("max") or 0)
    expect(value).to_have_text(str(last))
    for back in (1, 2, 3):  # it plays long enough to be seen playing
        press_slider(page, "Step", "ArrowLeft")
        expect(page).to_have_url(re.compile(f"step={last - back}"))
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(value).to_have_text(str(last), timeout=SLOW_MS)
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=SLOW_MS)
    page.get_by_test_id("stButtonGroup").nth(1).get_by_text("mirror", exact=True).click()
    expect(page.get_by_text("keeps drafting for the likeliest outcomes")).to_be_visible()
    expect(value).to_have_count(1)  # traces of other lengths have sliders of their own
    expect(value).to_have_text("2")


@pytest.mark.slow
def test_a_stored_run_takes_the_place_of_the_recorded_one(page: Page, bare_url: str) -> None:
    body = (ROOT / "data" / "traces" / "medusa.json").read_bytes()
    request = urllib.request.Request(
        f"{bare_url}/api/ingest", body, {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request, timeout=30).close()
    run_id = json.loads(body)["run"]["run_id"]
    page.goto(f"{bare_url}/learn?section=Mechanisms&run={run_id}")
    expect(page.get_by_text("their best guesses form a tree")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_role("radio", name="medusa")).to_be_checked()
    expect(page.get_by_role("link", name="The whole replay, under Runs")).to_be_visible()
    page.get_by_test_id("stButtonGroup").nth(1).get_by_text("ngram", exact=True).click()
    expect(page.get_by_text("No model drafts: the last tokens are looked up")).to_be_visible()
    expect(page).not_to_have_url(re.compile("run="))
    page.goto(f"{bare_url}/learn?section=Mechanisms&run=none")
    expect(page.get_by_test_id("stAlert")).to_contain_text("none", timeout=SLOW_MS)


@pytest.mark.slow
def test_a_chart_as_a_file_has_the_ground_of_a_light_page(page: Page, bare_url: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{bare_url}/learn")
    assert ground_of_a_saved_chart(page) == "#ffffff"


def ground_of_a_saved_chart(page: Page) -> str:
    chart = page.locator(".js-plotly-plot").first
    chart.hover(timeout=SLOW_MS)
    with page.expect_download() as download:
        chart.locator("[data-title^='Download plot']").click()
    picture = download.value.path().read_text(encoding="utf-8")
    filled = r'<rect x="0" y="0"[^>]*fill: rgb\((\d+), (\d+), (\d+)\); fill-opacity: 1'
    colour = re.search(filled, picture)
    assert colour is not None
    return "#" + "".join(f"{int(part):02x}" for part in colour.groups())
