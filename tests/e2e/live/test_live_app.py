"""The app as a new user meets it: servers that Run starts, a real browser, a real DuckDB file.

llama.cpp is the quick one; the pair of vLLM servers takes a minute to load.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import start_server
from specviz.servers.llama_cpp.dialect import LAUNCHER
from tests.support.browsers import settled
from tests.support.demo_models import known_prompts
from tests.support.servers.endless_model import write_endless

pytestmark = [pytest.mark.e2e, pytest.mark.integration]

LOADING_MS = 150_000
"""Two demo servers load side by side; on two busy cores that takes a while."""


VLLM = ("vLLM, started here", "need its server loaded first")
LLAMA_CPP = ("llama.cpp, started here", "start its server in a second or two")


@pytest.fixture(scope="module")
def endless_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("endless")
    spec = ServerSpec(LAUNCHER, str(write_endless(folder / "model")))
    server = start_server(spec, log_dir=folder, on_progress=print)
    yield server.url
    server.stop()


def use_demo_servers(page: Page, option: str, says: str) -> None:
    """Move the two arms that are on from the app to servers."""
    page.get_by_role("button", name="Arms").click()
    for arm in ("Arm 1", "Arm 2"):
        page.get_by_role("combobox", name=arm).click()
        page.get_by_role("option", name=option).click()
        settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_text(says)).to_be_visible()


def start_run(
    page: Page, app_url: str, servers: tuple[str, str], tokens: int | None = None
) -> None:
    page.goto(app_url)
    settled(page)
    page.get_by_label("Prompt").fill(known_prompts("code_generation")[3].text)
    use_demo_servers(page, *servers)
    if tokens is not None:
        longest_answer(page, tokens)
    page.get_by_role("button", name="Run", exact=True).click()


def wait_until_finished(page: Page, arms: int) -> None:
    finished = page.locator(".pane[data-phase=finished]")
    expect(finished).to_have_count(arms, timeout=LOADING_MS)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_one_click_to_the_first_coloured_token_and_the_run_is_stored(
    page: Page, app_url: str
) -> None:
    start_run(page, app_url, VLLM)
    coloured = page.locator(".pane .box.accepted").first
    coloured.wait_for(timeout=LOADING_MS)
    wait_until_finished(page, 2)
    expect(page.locator(".badge", has_text="traced")).to_have_count(1)
    expect(page.locator("[data-part=verdict]")).to_contain_text("equals the baseline")

    coloured.click()
    inspector = page.locator("[data-part=inspector]")
    expect(inspector).to_contain_text("depth 1")
    expect(inspector).to_contain_text("target")

    page.get_by_text("Open the stored run").click()
    expect(page).to_have_url(re.compile(r"/runs\?group="))
    expect(page.locator(".pane")).to_have_count(2)
    expect(page.locator(".pane .box.accepted").first).to_be_visible()


@pytest.mark.slow
def test_llama_cpp_is_started_by_run_and_counts_every_step(page: Page, app_url: str) -> None:
    start_run(page, app_url, LLAMA_CPP, tokens=32)
    wait_until_finished(page, 2)
    badge = re.compile(r"llama\.cpp b\d+ · counted")
    expect(page.locator(".badge", has_text=badge)).to_have_count(2)
    expect(page.locator(".pane .box.accepted").first).to_be_visible()
    expect(page.locator(".pane .box.unknown")).to_have_count(0)
    expect(page.locator("[data-part=verdict]")).to_contain_text("equals the baseline")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_leaving_the_page_during_a_run_does_not_stop_it_and_a_second_browser_can_watch(
    page: Page, context: BrowserContext, app_url: str
) -> None:
    start_run(page, app_url, LLAMA_CPP)
    page.wait_for_url(re.compile("job="))
    second = context.new_page()
    second.goto(page.url)
    settled(second)
    page.get_by_role("link", name="Servers").click()
    expect(page.get_by_role("heading", name="Servers", level=1)).to_be_visible()
    wait_until_finished(second, 2)
    page.go_back()
    wait_until_finished(page, 2)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_cancel_keeps_what_arrived_and_the_next_run_works(
    page: Page, app_url: str, endless_server: str
) -> None:
    page.goto(app_url)
    settled(page)
    page.get_by_role("button", name="Arms").click()
    for arm, option in (("Arm 1", "a server at a URL"), ("Arm 2", "off")):
        page.get_by_role("combobox", name=arm).click()
        page.get_by_role("option", name=option, exact=True).click()
        settled(page)
    url = page.get_by_label("Server URL")
    url.fill(endless_server)
    url.press("Enter")
    expect(page.get_by_text(re.compile(r"llama\.cpp b\d+ · "))).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    longest_answer(page, 3500)
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".pane .box").first.wait_for(timeout=LOADING_MS)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".pane[data-phase=cancelled]")).to_have_count(1, timeout=LOADING_MS)
    assert page.locator(".pane .box").count() > 0

    longest_answer(page, 20)
    page.get_by_role("button", name="Run", exact=True).click()
    wait_until_finished(page, 1)


def longest_answer(page: Page, tokens: int) -> None:
    page.get_by_role("button", name="temperature").click()
    length = page.get_by_label("Longest answer, tokens")
    length.fill(str(tokens))
    length.press("Enter")
    expect(page.get_by_role("button", name=f"{tokens:,} tokens")).to_be_visible()
    page.keyboard.press("Escape")


@pytest.mark.slow
def test_a_server_that_is_not_there_is_one_sentence(page: Page, app_url: str) -> None:
    page.goto(app_url)
    expect(page.get_by_text("no server, no GPU")).to_be_visible()
    page.get_by_role("button", name="Arms").click()
    page.get_by_role("combobox", name="Arm 2", exact=True).click()
    page.get_by_role("option", name="a server at a URL").click()
    url = page.get_by_label("Server URL")
    url.fill("http://127.0.0.1:9")
    url.press("Enter")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run", exact=True).click()
    failed = page.locator(".pane[data-phase=failed]")
    expect(failed).to_contain_text("Nothing answers at http://127.0.0.1:9", timeout=60_000)
