"""The token strip's clock in a real browser: replays, and long runs drawn in time."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.strip.reading import Opener, handed_over, output, tokens, wait_until_drawn
from tests.support.strip.scenarios import SCENARIOS, output_of

pytestmark = pytest.mark.e2e

ARRIVALS = """
const Original = WebSocket;
window.WebSocket = class extends Original {
  constructor(...args) {
    super(...args);
    if (!String(args[0]).includes("/ws/")) return;
    this.addEventListener("message", () => { window.lastMessage = performance.now(); });
  }
};
"""

WAIT_FOR_LAST = """() => new Promise((done) => {
  const look = () => {
    const root = document.querySelector("[data-testid=stBidiComponentIsolated]")?.shadowRoot;
    const last = root?.querySelector(".text")?.lastElementChild?.lastElementChild?.textContent;
    if (last?.endsWith("<END>")) done(performance.now() - window.lastMessage);
    else requestAnimationFrame(look);
  };
  look();
})"""


def set_scrubber(page: Page, share: float) -> None:
    page.locator(".controls input").evaluate(
        """(input, share) => {
          input.value = String(Number(input.max) * share);
          input.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        share,
    )


def test_half_the_time_shows_half_the_tokens(open_strip: Opener) -> None:
    page = open_strip("uniform", mode="replay", size=1000)
    wait_until_drawn(page)
    expect(output(page).locator(".tok")).to_have_count(100)
    set_scrubber(page, 0.5)
    expect(output(page).locator(".tok")).to_have_count(50)
    page.get_by_label("one step forward").click()
    expect(output(page).locator(".tok")).to_have_count(51)
    page.get_by_label("one step back").click()
    page.get_by_label("one step back").click()
    expect(output(page).locator(".tok")).to_have_count(49)
    set_scrubber(page, 1)
    assert handed_over(page, 0) == output_of(SCENARIOS["uniform"]()[0])


def test_play_starts_over_and_ends_with_everything(open_strip: Opener) -> None:
    page = open_strip("uniform", mode="replay", size=1000)
    wait_until_drawn(page)
    page.get_by_label("speed of the replay").select_option("0.25")
    page.get_by_role("button", name="play", exact=True).click()
    page.wait_for_timeout(500)
    page.get_by_role("button", name="pause", exact=True).click()
    assert 0 < output(page).locator(".tok").count() < 100
    page.get_by_label("speed of the replay").select_option("max")
    page.get_by_role("button", name="play", exact=True).click()
    expect(output(page).locator(".tok")).to_have_count(100)
    expect(page.get_by_role("button", name="play", exact=True)).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "size"), [("live", 1), ("replay", 100_000)])
def test_4000_tokens_are_drawn_within_two_seconds_of_the_last_message(
    open_strip: Opener, page: Page, mode: str, size: int
) -> None:
    page.add_init_script(ARRIVALS)
    open_strip("long_run", mode=mode, size=size)
    late_ms: Any = page.evaluate(WAIT_FOR_LAST)
    assert late_ms < 2000
    kinds = [kind for kind, _ in tokens(page)]
    assert len([kind for kind in kinds if kind not in ("rejected", "unverified")]) == 4000
