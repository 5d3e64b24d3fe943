"""A browser, and an app, for tests of pages; a conftest.py imports these fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from benchmarks.started.app import started_app
from benchmarks.started.chromium import HEADLESS_SHELL
from benchmarks.started.chromium import chromium as started
from tests.support.apps.log import fail_on_tracebacks, watched

expect.set_options(timeout=20_000)  # two cores are shared with servers, and with unit tests


FLAGS = (
    "--host-resolver-rules=MAP evil.test 127.0.0.1",  # for the tests of names that are rebound
    "--process-per-site",  # all apps are one site: what a page has compiled, the next one uses
    "--js-flags=--min-semi-space-size=64 --max-semi-space-size=64",  # fewer collections, MiB
)


def browsing(scope: Literal["package", "module"]) -> tuple[Any, Any]:
    """Two fixtures: a browser, and a context in which every test has pages of its own.

    Neither outlives the folder or the file: while Playwright's synchronous API is open, its event
    loop runs in this thread, and tests of asynchronous code could not.
    """

    @pytest.fixture(scope=scope)
    def chromium() -> Iterator[Browser]:
        with started(*FLAGS, executable=HEADLESS_SHELL) as browser:
            yield browser

    @pytest.fixture(scope=scope)
    def context(chromium: Browser) -> Iterator[BrowserContext]:
        context = chromium.new_context(viewport={"width": 1280, "height": 1000})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(30_000)  # what one page may take on two slow, busy cores
        stays = context.new_page()  # and with it the process: a page takes half as long to open
        stays.route("**/*", lambda route: route.fulfill(body=""))
        stays.goto("http://127.0.0.1/")
        yield context
        context.close()

    return chromium, context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A new page. At the end it, and whatever else was opened beside it, must show no exception."""
    before = context.pages
    yield context.new_page()
    opened = [page for page in context.pages if page not in before]
    try:
        for page in opened:
            expect(page.get_by_test_id("stException")).to_have_count(0)
            page.evaluate("location.protocol.startsWith('http') && localStorage.clear()")
    finally:
        for page in opened:
            page.close()


@pytest.fixture(autouse=True)
def no_traceback() -> Iterator[None]:
    """Fails a test whose app logs a traceback, as Streamlit does for every exception of a page."""
    yield
    fail_on_tracebacks()


@pytest.fixture(scope="module")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "runs.duckdb"


@pytest.fixture(scope="module")
def app_url(store_path: Path) -> Iterator[str]:
    """The app as a user starts it, by `streamlit run`, on a store of its own."""
    log = store_path.with_name("app.log")
    with started_app(store_path, log) as url, watched(log):
        yield url


def settled(page: Page, timeout_ms: float = 30_000) -> None:
    """Returns once the page's script has ended, what it draws replaces what was there, and nothing
    moves or fades: an element that is about to be replaced takes no click, and a list that opens
    while its page is drawn is closed."""
    expect(page.get_by_test_id("stElementContainer").first).to_be_attached(timeout=timeout_ms)
    app = page.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-script-state", "notRunning", timeout=timeout_ms)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0, timeout=timeout_ms)
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=timeout_ms)
    # looked at again and again: `finished` of an animation whose element is replaced may stay open
    still = "document.getAnimations().every((one) => one.playState !== 'running')"
    page.wait_for_function(still, timeout=timeout_ms)
