"""Presenting: one step at a time in large type, its caption, and the address of what is shown."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.strip.reading import Opener, output, step_with, wait_until_drawn
from tests.support.strip.scenarios import pieces_of_arm
from tests.support.strip.steps import chain_steps

pytestmark = pytest.mark.e2e

DRAFT = 1  # the sampling arm of `three_arms`


def presented(opened: Opener, step: int = 0, pane: int = 0) -> Page:
    """A stored run, presented from a step on."""
    page = opened("three_arms", mode="replay")
    wait_until_drawn(page)
    output(page, pane).locator(f"[data-step='{step}'] .tok").first.click()
    page.get_by_role("button", name="Present").click()
    expect(page.locator(".presentation")).to_be_visible()
    return page


def caption(page: Page) -> str:
    return page.locator(".caption").inner_text()


def test_a_rejection_is_said_with_both_probabilities_and_the_draw(drawn: Opener) -> None:
    steps = chain_steps(pieces_of_arm("draft"), sampled=True)
    index = next(n for n, s in enumerate(steps) if 0 < s.num_accepted < len(s.drafted))
    step = steps[index]
    rejected = next(d for d in step.drafted if d.verdict == "rejected")
    assert rejected.u is not None
    assert rejected.target_prob is not None
    assert rejected.draft_prob is not None
    page = presented(drawn, step=index, pane=DRAFT)
    said = caption(page)
    assert said.startswith(
        f"{len(step.drafted)} drafted, {step.num_accepted} accepted. The target gave"
    )
    assert f"{rejected.target_prob:.2f}, the draft {rejected.draft_prob:.2f}" in said
    assert f"the draw was {rejected.u:.2f}: rejected." in said
    assert said.endswith("is drawn from what the target has more of.")
    expect(page.locator(".shown.rejected .name")).to_have_count(1)
    expect(page.locator(".shown.accepted")).to_have_count(step.num_accepted)


def test_greedy_and_undrafted_steps_say_what_they_are(drawn: Opener) -> None:
    page = presented(drawn)
    assert re.fullmatch(r"Nothing was drafted: the target wrote \S+\.", caption(page))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")  # eagle3, at temperature 0
    for _ in range(8):
        if "rejected" in caption(page):
            break
        page.keyboard.press("ArrowRight")
    assert re.search(
        r"is not the first choice of the target, which gave it \d\.\d\d: rejected", caption(page)
    )
    assert "the draw was" not in caption(page)


@pytest.mark.slow
def test_a_server_that_only_counts_is_not_given_words_it_did_not_say(open_strip: Opener) -> None:
    page = open_strip("counted", mode="replay")
    wait_until_drawn(page)
    step_with(page, "rejected").locator(".tok").first.click()
    page.get_by_role("button", name="Present").click()
    assert "counts rejected tokens but does not name them" in caption(page)
    expect(page.locator(".shown.rejected")).to_have_count(0)


def test_keys_walk_and_the_address_follows(drawn: Opener) -> None:
    page = presented(drawn, step=2, pane=DRAFT)
    for key, step in (("ArrowRight", 4), ("ArrowRight", 5), ("ArrowLeft", 4), ("Home", 1)):
        page.keyboard.press(key)
        expect(page.locator("[data-show=step]")).to_have_text(re.compile(rf"^Step {step} of \d+$"))
        expect(page).to_have_url(re.compile(rf"#arm=draft&step={step}&present=yes$"))
    page.keyboard.press("ArrowLeft")  # nothing before the first
    expect(page.locator("[data-show=step]")).to_have_text(re.compile(r"^Step 1 of"))
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")  # the first may have ended the full screen alone
    expect(page.locator(".presentation")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("present"))


def test_another_arm_is_shown_at_the_same_place_of_its_output(drawn: Opener) -> None:
    page = presented(drawn, step=6, pane=DRAFT)
    shown = page.locator(".past").inner_text()
    page.keyboard.press("ArrowUp")  # the baseline, in steps of one token
    expect(page.locator("[data-show=title]")).to_contain_text("baseline")
    assert page.locator(".past").inner_text() == shown


def test_it_plays_by_itself_at_a_speed_in_steps_a_second(drawn: Opener) -> None:
    page = presented(drawn, pane=DRAFT)
    play = page.locator("[data-show=play]")
    page.locator("[data-show=speed]").select_option("2")
    play.click()
    later = re.compile(r"^Step ([2-9]|\d\d) of")
    expect(page.locator("[data-show=step]")).to_have_text(later)
    expect(play).not_to_have_text("Play")
    play.click()
    expect(play).to_have_text("Play")


@pytest.mark.slow
def test_type_grows_and_stays_grown(open_strip: Opener) -> None:
    page = presented(open_strip, pane=DRAFT)
    size = "(node) => parseFloat(getComputedStyle(node).fontSize)"
    before = page.locator(".caption").evaluate(size)
    for _ in range(3):
        page.keyboard.press("+")
    after = page.locator(".caption").evaluate(size)
    assert after > 1.3 * before
    page.reload()
    expect(page.locator(".presentation")).to_be_visible()  # as the address says
    again = page.locator(".caption").evaluate(size)
    assert again == after


@pytest.mark.slow
def test_a_copied_link_opens_the_same_arm_step_and_time(open_strip: Opener) -> None:
    page = open_strip("three_arms", mode="replay")
    wait_until_drawn(page)
    for _ in range(3):
        page.locator("button[data-do=back]").click()
    output(page, DRAFT).locator("[data-step='5'] .tok").first.click()
    shown = page.locator(".controls output").inner_text()
    page.get_by_role("button", name="Copy link").first.click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"#arm=draft&step=6&at=[\d.]+$", link)
    other = page.context.browser.new_context().new_page()  # type: ignore[union-attr]
    other.goto(link)
    expect(other.locator(".inspector h3")).to_have_text(
        re.compile(r"^draft_model · K 5 · step 6 of")
    )
    expect(other.locator(".controls output")).to_have_text(shown)
    expect(other.locator(".step.selected").first).to_be_in_viewport()
    other.context.close()


def test_what_is_presented_is_copied_as_a_link(drawn: Opener) -> None:
    page = presented(drawn, step=2, pane=DRAFT)
    button = page.locator(".presentation [data-press=copy]")
    for _ in range(2):
        button.click()
        expect(button).to_have_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"#arm=draft&step=3&present=yes$", link)
    expect(button).to_have_text("Copy link")


@pytest.mark.parametrize(
    "named",
    [
        "arm=nobody&step=2&present=yes",
        pytest.param("arm=draft&step=999&at=-3", marks=pytest.mark.slow),
    ],
)
def test_a_link_to_what_is_not_there_opens_the_run(open_strip: Opener, named: str) -> None:
    page = open_strip("three_arms", mode="replay")
    wait_until_drawn(page)
    page.goto(f"{page.url}#{named}")
    page.reload()
    wait_until_drawn(page)
    expect(page.locator(".inspector")).to_have_class(re.compile("empty"))
    expect(page.locator(".presentation")).to_be_hidden()
    expect(page).to_have_url(re.compile("^[^#]+$"))


def test_the_inspector_opens_in_view_and_not_over_its_step(drawn: Opener) -> None:
    page = drawn("three_arms", mode="replay")
    step = output(page, DRAFT).locator("[data-step='3'] .tok").first
    for width, height in ((1280, 720), (1440, 900), (768, 700)):
        page.set_viewport_size({"width": width, "height": height})
        step.click()
        expect(page.locator(".inspector .card").first).to_be_in_viewport()
        inspector, clicked = page.locator(".inspector").bounding_box(), step.bounding_box()
        assert inspector is not None
        assert clicked is not None
        assert inspector["y"] + inspector["height"] <= height
        assert clicked["y"] + clicked["height"] <= inspector["y"]
        page.keyboard.press("Escape")
        expect(page.locator(".inspector .card")).to_have_count(0)
    page.set_viewport_size({"width": 1280, "height": 1000})
