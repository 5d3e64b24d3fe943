"""The token strip in a real browser: what a reader sees, marks, copies and opens."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.strip.reading import (
    Opener,
    copied,
    handed_over,
    output,
    step_with,
    tokens,
    wait_until_drawn,
)
from tests.support.strip.scenarios import FAILURE, HOSTILE, SCENARIOS, output_of, pieces_of_arm
from tests.support.strip.steps import chain_steps

pytestmark = pytest.mark.e2e


def test_drafts_stand_before_the_token_that_replaced_them(drawn: Opener) -> None:
    page = drawn("three_arms")
    expected = []
    for step in chain_steps(pieces_of_arm("draft"), sampled=True):
        kept = [[t.origin.value, t.text.removesuffix("\n")] for t in step.emitted]
        dropped = [[d.verdict.value, (d.text or "").strip()] for d in step.drafted]
        own = [kept.pop()] if kept and kept[-1][0] != "accepted" else []
        expected += kept + [one for one in dropped if one[0] != "accepted"] + own
    assert tokens(page, 1) == expected
    assert {kind for kind, _ in tokens(page, 0)} == {"target"}


@pytest.mark.parametrize(
    "name", [pytest.param("three_arms", marks=pytest.mark.slow), "hostile", "characters"]
)
def test_a_copy_is_exactly_the_output(drawn: Opener, name: str) -> None:
    page = drawn(name)
    pane = len(SCENARIOS[name]()) // 2
    # Chromium's clipboard ends a text at U+0000; what the strip hands over has it.
    expected = output_of(SCENARIOS[name]()[pane])
    assert handed_over(page, pane) == expected
    if "\0" not in expected:
        assert copied(page, pane) == expected


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_thinking_is_set_apart_from_the_answer(
    drawn: Opener, scheme: Literal["light", "dark"]
) -> None:
    page = drawn("thinking")
    page.emulate_media(color_scheme=scheme)
    looks = page.locator(".legend .aside, .text .tok").evaluate_all(
        "all => all.map((one) => one.querySelector('.box') ?? one)"
        ".map((one) => getComputedStyle(one)).map((style) => [style.fontStyle, style.color])"
    )
    page.emulate_media(color_scheme=None)
    markup, thought, answer, legend = looks
    assert markup == thought == legend
    assert legend[0] == "italic" and answer[0] == "normal" and legend[1] != answer[1]
    page.locator(".text .tok").nth(1).hover()
    expect(page.locator("[data-part=tip]")).to_contain_text("thinking: output beside the answer")


def test_model_text_is_never_markup(drawn: Opener) -> None:
    page = drawn("hostile")
    page.locator(".text .rejected").first.hover()
    step_with(page, "rejected").locator(".tok").first.click()
    expect(page.locator(".inspector .card").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert output(page).locator("img, script").count() == 0
    shown = output(page).inner_text()
    assert HOSTILE[0] in shown
    assert HOSTILE[1] in shown
    assert "␛[31mred␀" in shown


def test_half_characters_leave_a_mark_that_is_not_text(drawn: Opener) -> None:
    page = drawn("characters")
    assert tokens(page) == [["unknown", text] for text in ("", "", "한", " ok")]
    expect(output(page).locator(".half")).to_have_count(2)


def test_a_pane_is_as_high_as_its_text(drawn: Opener) -> None:
    page = drawn("characters")
    free = page.locator(".scroller").first.evaluate(
        "(s) => s.clientHeight - s.querySelector('.text').offsetHeight"
    )
    assert free < 60


def test_a_revision_replaces_what_was_guessed(open_strip: Opener) -> None:
    page = open_strip("revised", size=1, pace=1500)  # seen at one look in half a second
    expect(output(page)).to_contain_text("WRONG")
    wait_until_drawn(page)
    expect(output(page)).not_to_contain_text("WRONG")
    assert handed_over(page, 0) == "the quick brown fox"
    expect(page.locator(".badge")).to_have_text("counted")


@pytest.mark.parametrize("resume", ["seen", pytest.param("numbers", marks=pytest.mark.slow)])
def test_a_dropped_connection_resumes_without_loss_or_duplicates(
    open_strip: Opener, resume: str
) -> None:
    page = open_strip("three_arms", size=3, drop=4, resume=resume)
    wait_until_drawn(page)
    for pane, one in enumerate(SCENARIOS["three_arms"]()):
        assert handed_over(page, pane) == output_of(one)


def test_a_failure_of_the_app_is_shown_as_what_it_is_and_what_came_before_stays(
    open_strip: Opener,
) -> None:
    page = open_strip("three_arms", size=3, fail=4)
    message = page.locator(".message")
    expect(message).to_have_text(FAILURE)
    expect(output(page, 0).locator(".tok").first).to_be_visible()
    page.wait_for_timeout(1500)  # a browser that lost its connection would be back by now
    expect(message).to_have_text(FAILURE)


def test_a_refused_run_says_why_and_asks_no_more(open_strip: Opener) -> None:
    page = open_strip("no_such_scenario")
    expect(page.locator(".message")).to_have_text("This run is gone: start it again.")


def test_without_a_run_it_says_what_to_do(open_strip: Opener) -> None:
    page = open_strip("")
    expect(page.locator(".empty-panes")).to_contain_text("press Run")


def test_the_toggle_hides_rejected_drafts_and_is_remembered(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    draft = output(page, 1).locator(".rejected").first
    expect(draft).to_be_visible()
    page.get_by_label("show rejected drafts").uncheck()
    expect(draft).to_be_hidden()
    page.reload()
    wait_until_drawn(page)
    expect(draft).to_be_hidden()


def test_keys_go_from_step_to_step_and_open_one(drawn: Opener) -> None:
    page = drawn("three_arms")
    page.locator(".scroller").nth(1).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.locator(".tip")).to_contain_text("step3")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h3")).to_contain_text("step 3 of")


def test_the_tooltip_tells_what_is_known_of_a_token(drawn: Opener) -> None:
    page = drawn("three_arms")
    tip = page.locator(".tip")
    output(page, 1).locator(".rejected").last.hover()
    for words in ("token id", "depth", "target probability", "draft probability", "min(1, "):
        expect(tip).to_contain_text(words)
    page.locator(".badge").first.hover()
    expect(tip).to_contain_text("Traced: every drafted token")


def test_an_error_keeps_what_arrived(open_strip: Opener) -> None:
    page = open_strip("failed")
    expect(page.locator(".pane[data-phase=failed] .note")).to_contain_text("stopped answering")
    assert tokens(page, 0)
    expect(page.locator(".pane[data-phase=starting] .note")).to_contain_text("Loading the model")
    expect(page.locator(".pane[data-phase=waiting] .note")).to_contain_text("the arm before it")


def test_a_missing_figure_is_a_dash_with_its_reason(drawn: Opener) -> None:
    page = drawn("three_arms")
    first, *_, last = page.locator(".headline").all()
    expect(first).to_have_text("96 tokens in 96 passes")
    expect(last).to_be_hidden()  # a server that does not report its passes
    figure = page.locator(".pane").first.locator(".figure").nth(1)
    expect(figure.locator("dd")).to_have_text("–")
    figure.hover()
    expect(page.locator(".tip")).to_contain_text("the baseline drafts nothing")


def scroll_to_the_top(page: Page, scroller: Locator) -> None:
    """Chromium scrolls in steps, and ends early where blocks turn out higher than estimated."""
    scroller.hover()
    for _ in range(50):
        page.mouse.wheel(0, -100_000)
        page.wait_for_timeout(200)
        if scroller.evaluate("(s) => s.scrollTop") == 0:
            return
    raise AssertionError("The pane does not scroll to its top.")


def test_a_pane_follows_the_newest_token_unless_the_reader_scrolled_up(
    open_strip: Opener,
) -> None:
    page = open_strip("long_run", size=4, pace=30)
    distance = "(s) => s.scrollHeight - s.scrollTop - s.clientHeight"
    scroller = page.locator(".scroller")
    scroller.locator(".step[data-step='60']").wait_for(state="attached")
    assert scroller.evaluate(distance) < 30
    scroll_to_the_top(page, scroller)
    shown = scroller.locator(".step").count()
    scroller.locator(f".step[data-step='{shown + 40}']").first.wait_for(state="attached")
    assert scroller.evaluate("(s) => s.scrollTop") == 0
    page.mouse.wheel(0, 100_000)
    follows = f"(s) => ({distance})(s) < 30"
    page.wait_for_function(follows, arg=scroller.element_handle())


@pytest.mark.slow
def test_a_pane_follows_again_where_the_end_was_when_the_reader_went_there(
    open_strip: Opener,
) -> None:
    """A smooth movement takes long on a busy machine, and the text grows meanwhile."""
    page = open_strip("long_run", size=4, pace=30)
    scroller = page.locator(".scroller")
    scroller.locator(".step[data-step='60']").wait_for(state="attached")
    scroll_to_the_top(page, scroller)
    left = """async (s) => {
      const grown = (steps) => new Promise((done) => {
        const from = s.querySelectorAll(".step").length;
        const look = () => s.querySelectorAll(".step").length < from + steps
          ? requestAnimationFrame(look) : done();
        look();
      });
      const end = () => s.scrollHeight - s.clientHeight;
      s.dispatchEvent(new WheelEvent("wheel", { deltaY: 100 }));
      const aim = end();
      await grown(40);
      s.scrollTop = aim;
      await grown(40);
      return end() - s.scrollTop;
    }"""
    assert scroller.evaluate(left) < 30


@pytest.mark.parametrize(
    "name",
    [
        "hostile",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("four_arms", "tree", "siblings", "typical")
        ),
    ],
)
def test_nothing_scrolls_sideways(drawn: Opener, name: str) -> None:
    page = drawn(name)
    step_with(page, "rejected").locator(".tok").first.click()
    for width in (1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.locator(".strip-root").evaluate("""(root) => {
          const inner = root.querySelectorAll(".scroller, .card");
          return [document.documentElement, root, ...inner]
            .filter((node) => node.scrollWidth > node.clientWidth + 1).length;
        }""")
        assert wide == 0, f"at {width} px"


def test_the_end_of_a_live_run_reruns_the_page_once(drawn: Opener) -> None:
    page = drawn("three_arms")  # a while ago, if the file is run whole
    expect(page.get_by_text("reruns: 1")).to_be_visible()
    assert handed_over(page, 0) == output_of(SCENARIOS["three_arms"]()[0])
