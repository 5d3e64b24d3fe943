"""A web page's name that is made to mean this machine (DNS rebinding), in a real browser: its
resolver says that evil.test is here."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.e2e

ASK = """async (url) => {
    const reached = new Promise((resolve) => {
        const socket = new WebSocket(url)
        socket.onopen = () => resolve(true)
        socket.onerror = () => resolve(false)
    })
    return await reached
}"""


def test_a_rebound_name_reaches_nothing(page: Page, app_url: str) -> None:
    evil = app_url.replace("127.0.0.1", "evil.test")
    answer = page.goto(evil)
    assert answer is not None and answer.status == 403
    expect(page.get_by_text("by a name that is not its own")).to_be_visible()
    for path in ("/ws/jobs/j", "/_stcore/stream"):
        assert page.evaluate(ASK, evil.replace("http", "ws") + path) is False
        assert page.evaluate(ASK, app_url.replace("http", "ws") + path) is False  # another origin
    for path in ("/_stcore/health", "/api/export"):
        assert page.evaluate("async (path) => (await fetch(path)).status", path) == 403
    page.goto(app_url)  # and the app's own page works, its stream included
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible(timeout=60_000)
    assert page.evaluate(ASK, app_url.replace("http", "ws") + "/ws/jobs/j") is True


@pytest.fixture
def elsewhere(app_url: str) -> Iterator[str]:
    """The page of another site, with a link to the app and the app in a frame."""
    html = f'<a href="{app_url}/learn">a link</a><iframe src="{app_url}/learn"></iframe>'

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: object) -> None:
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://evil.test:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_link_opens_a_page_and_a_frame_does_not(page: Page, app_url: str, elsewhere: str) -> None:
    with page.expect_response(f"{app_url}/learn") as framed:
        page.goto(elsewhere)
    assert framed.value.status == 403
    with page.expect_response(f"{app_url}/learn") as opened:
        page.get_by_text("a link").click()
    assert opened.value.status == 200
