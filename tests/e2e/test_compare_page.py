"""The Compare page on a small store: picked, shared by URL, and whatever a model wrote is text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.apps.process import APPS, running_app
from tests.support.browsers import settled
from tests.support.runs.compare_store import Ids, fill

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000


@pytest.fixture(scope="module")
def compare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Ids]]:
    folder = tmp_path_factory.mktemp("compare")
    ids = fill(folder / "runs.duckdb")
    script = APPS / "bench.py"
    store = str(folder / "runs.duckdb")
    with running_app(script, folder / "app.log", SPECVIZ_STORE=store) as url:
        yield f"{url}/compare", ids


def section(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()


def shown(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(text).first).to_be_visible(timeout=SLOW_MS)


def row(page: Page, *texts: str):
    found = page.locator("tbody tr")
    for text in texts:
        found = found.filter(has_text=text)
    return found.first


def test_runs_are_picked_and_the_reference_is_changed(page: Page, compare: tuple[str, Ids]) -> None:
    url, ids = compare
    page.goto(url)
    shown(page, re.compile("Pick two to six"))
    box = page.get_by_role("combobox", name="Runs, arms of benchmarks and results from elsewhere")
    for words, arms in (("baseline · vllm", ids.baseline), ("concurrency 4", ids.loaded)):
        box.click()
        box.fill(words)
        page.get_by_role("option", name=words).last.click()
        expect(page).to_have_url(re.compile(f"{arms}$"), timeout=SLOW_MS)
        settled(page)
    page.keyboard.press("Escape")
    shown(page, re.compile("Prompt: 8 shared, 8 with the same texts"))
    expect(page.locator(".compared-names")).to_have_text(
        re.compile(r"baseline, the reference.*ngram · K 3")
    )
    settled(page)
    page.get_by_role("combobox", name="Reference").click()
    page.get_by_role("option").last.click()
    expect(page).to_have_url(re.compile(f"{ids.loaded}%2C{ids.baseline}"), timeout=SLOW_MS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_why_two_tools_report_different_acceptance(page: Page, compare: tuple[str, Ids]) -> None:
    """Real files of vLLM's client and AIPerf, of the same answers by the same server."""
    url, ids = compare
    arms = f"{ids.vllm},{ids.aiperf},{ids.ngram}"
    page.goto(f"{url}?arms={arms}&compare_section=Acceptance+by+definition")
    shown(page, re.compile("explain the whole difference of \\+0.018"))
    shown(page, re.compile("comes to .*: over all steps, 1 \\+ Σa / n"))  # a benchmark's own arm
    length = row(page, "acceptance length", "mean of requests", "mean(1")
    expect(length).to_contain_text("3.34 “Acceptance Length”")
    shown(page, re.compile("requests of anybody else are not"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_steps_of_a_file_without_texts(page: Page, compare: tuple[str, Ids]) -> None:
    url, ids = compare
    page.goto(f"{url.removesuffix('compare')}runs?elsewhere={ids.log}")
    section(page, "Steps")
    shown(page, "The file has token ids and no text")
    expect(page.locator(".pane")).to_contain_text("[1328]", timeout=SLOW_MS)


@pytest.mark.slow
def test_texts_part_where_they_part_and_are_text(page: Page, compare: tuple[str, Ids]) -> None:
    url, ids = compare
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{url}?arms={ids.plain},{ids.traced},gone,{ids.deleted}")
    shown(page, "There is no run gone in the database.")
    shown(page, re.compile("was deleted: undo that on its own page"))
    parting = row(page, "<b>mine</b> $x$")
    expect(parting).to_contain_text("token 4", timeout=SLOW_MS)
    expect(parting).to_contain_text("␣on")
    expect(parting).to_contain_text("␣by")
    expect(parting).to_contain_text("0.4000.550")
    texts = page.locator(".compared-texts")
    expect(texts).to_contain_text("<script>window.owned = true</script>")
    expect(texts).to_contain_text("‹U+202E›␛[31mשלום")
    expect(texts.locator("mark").first).to_have_text("on")
    section(page, "Replay")
    expect(page.locator(".pane")).to_have_count(2, timeout=SLOW_MS)
    section(page, "Paired differences")
    shown(page, "<b>mine</b> $x$: times are not comparable: other hardware (H200, the reference "
                "unknown).")  # fmt: skip
    shown(page, "One shared prompt has no interval")
    section(page, "Configuration")
    expect(row(page, "K")).to_contain_text("4", timeout=SLOW_MS)
    assert page.evaluate("window.owned") is None
    assert not [one for one in requests if "127.0.0.1" not in one and one.startswith("http")]


@pytest.mark.slow
def test_arms_of_a_benchmark_beside_foreign_results(page: Page, compare: tuple[str, Ids]) -> None:
    url, ids = compare
    arms = f"{ids.baseline},{ids.ngram},{ids.loaded},{ids.elsewhere}"
    page.goto(f"{url}?arms={arms}&compare_section=Paired+differences")
    shown(page, "times are not comparable: other load (concurrency 4, the reference concurrency 1)")
    ngram = row(page, "ngram · K 3", "TPOT, ms/token")
    expect(ngram).to_contain_text("better", timeout=SLOW_MS)
    expect(row(page, "TTFT, ms")).to_contain_text("within noise")
    expect(row(page, "not comparable")).to_be_visible()
    expect(row(page, "H100 last week")).to_contain_text("7.25")
    expect(page.locator(".js-plotly-plot")).to_have_count(1, timeout=SLOW_MS)
    section(page, "Acceptance by position")
    expect(row(page, "H100 last week")).to_contain_text("0.800.600.40", timeout=SLOW_MS)
    shown(page, re.compile("On the 8 prompts that all of these runs answered"))
    shown(page, re.compile(r"Nothing drafted, or not reported by position: baseline\."))
    section(page, "Texts")
    shown(page, "H100 last week was measured elsewhere: its figures are known, its texts are not.")
    page.get_by_role("combobox", name=re.compile("Prompt: 8 shared")).click()
    page.get_by_role("option", name=re.compile(r"^3\. ")).click()
    expect(page.get_by_test_id("stCode")).to_contain_text("prompt 2", timeout=SLOW_MS)
    expect(page).to_have_url(re.compile(r"prompt=\w{12}"))
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_test_id("stCode")).to_contain_text("prompt 2", timeout=SLOW_MS)
