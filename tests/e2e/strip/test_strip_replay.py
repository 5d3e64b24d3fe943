"""The token strip's clock in a real browser: replays, and long runs drawn in time."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.strip.reading import Opener, handed_over, output, tokens
from tests.support.strip.scenarios import SCENARIOS, output_of

pytestmark = pytest.mark.e2e


def set_scrubber(page: Page, share: float) -> None:
    page.locator(".controls input").evaluate(
        """(input, share) => {
          input.value = String(Number(input.max) * share);
          input.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        share,
    )


def test_half_the_time_shows_half_the_tokens(drawn: Opener) -> None:
    page = drawn("uniform", mode="replay")
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


def test_play_starts_over_and_ends_with_everything(drawn: Opener) -> None:
    page = drawn("uniform", mode="replay")
    page.get_by_label("speed of the replay").select_option("0.25")
    page.get_by_role("button", name="play", exact=True).click()
    expect(output(page).locator(".tok").nth(99)).to_have_count(0)  # it has gone back,
    expect(output(page).locator(".tok").first).to_be_visible()  # and takes 40 seconds
    page.get_by_role("button", name="pause", exact=True).click()
    page.get_by_label("speed of the replay").select_option("max")
    page.get_by_role("button", name="play", exact=True).click()
    expect(output(page).locator(".tok")).to_have_count(100)
    expect(page.get_by_role("button", name="play", exact=True)).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "size"), [("live", 1), ("replay", 100_000)])
def test_4000_tokens_are_drawn(open_strip: Opener, mode: str, size: int) -> None:
    page = open_strip("long_run", mode=mode, size=size)
    expect(output(page).locator(".tok").last).to_contain_text("<END>", timeout=120_000)
    kinds = [kind for kind, _ in tokens(page)]
    assert len([kind for kind in kinds if kind not in ("rejected", "unverified")]) == 4000
