"""Each test's user is a new one, although all of a file use one cache."""

from __future__ import annotations

from browsers import forget
from playwright.sync_api import BrowserContext, Page, Route

STORE = "localStorage.kept = 'yes'; sessionStorage.kept = 'yes'; document.cookie = 'kept=yes'"
STORED = "[localStorage.kept, sessionStorage.kept, document.cookie]"


def test_nothing_is_left_of_the_user_before(context: BrowserContext) -> None:
    def opened() -> Page:
        page = context.new_page()
        page.route("http://127.0.0.1:9/", answer)
        page.goto("http://127.0.0.1:9/")
        return page

    def answer(route: Route) -> None:
        route.fulfill(body="<title>a site</title>", content_type="text/html")

    opened().evaluate(STORE)
    assert opened().evaluate(STORED) == ["yes", None, "kept=yes"]
    forget(context)
    assert opened().evaluate(STORED) == [None, None, ""]
