"""The token strip in a real browser: what a reader sees, marks, copies and opens."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from app_process import running_app
from playwright.sync_api import Locator, Page, expect
from strip_scenarios import HOSTILE, SCENARIOS, chain_steps, output_of, pieces

pytestmark = pytest.mark.e2e

Opener = Callable[..., Page]

TOKENS = """(text) => [...text.querySelectorAll(".tok")].map((tok) => {
  const marks = new Set([tok, ...tok.querySelectorAll(".box")].flatMap((n) => [...n.classList]));
  const kinds = ["accepted", "recovered", "bonus", "target", "unknown", "rejected", "unverified"];
  return [kinds.find((kind) => marks.has(kind)), tok.textContent.replace(/\\n$/, "")];
})"""


@pytest.fixture(scope="module")
def strip_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("strip") / "app.log"
    with running_app(Path(__file__).with_name("strip_app.py"), log) as url:
        yield url


@pytest.fixture
def open_strip(strip_url: str, page: Page) -> Opener:
    """Open a scenario: `open_strip("tree", mode="replay", size=1000)`."""

    def open_scenario(name: str, *, mode: str = "live", **query: object) -> Page:
        source = f"/ws/{name}/{uuid.uuid4().hex}?{urlencode({'mode': mode, **query})}"
        page.goto(f"{strip_url}/?{urlencode({'source': source if name else '', 'mode': mode})}")
        page.locator(".strip-root").wait_for(state="attached")
        return page

    return open_scenario


def output(page: Page, pane: int = 0) -> Locator:
    return page.locator(".pane").nth(pane).locator(".text")


def tokens(page: Page, pane: int = 0) -> list[list[str]]:
    """`[kind, shown text without a line end]` of every token of a pane."""
    found: list[list[str]] = output(page, pane).evaluate(TOKENS)
    return found


def wait_until_drawn(page: Page) -> None:
    expect(page.locator(".pane[data-phase=finished]").first).to_be_visible()
    expect(page.locator(".controls output")).to_contain_text(" of ")


def copied(page: Page, pane: int = 0) -> str:
    page.locator(".scroller").nth(pane).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def step_with(page: Page, mark: str) -> Locator:
    return page.locator(f".text .step:has(.{mark})").first


def test_drafts_stand_before_the_token_that_replaced_them(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    expected = []
    for step in chain_steps(pieces_of_arm("draft"), sampled=True):
        kept = [[t.origin.value, t.text.removesuffix("\n")] for t in step.emitted]
        dropped = [[d.verdict.value, (d.text or "").strip()] for d in step.drafted]
        own = [kept.pop()] if kept and kept[-1][0] != "accepted" else []
        expected += kept + [one for one in dropped if one[0] != "accepted"] + own
    assert tokens(page, 1) == expected
    assert {kind for kind, _ in tokens(page, 0)} == {"target"}


def pieces_of_arm(name: str) -> list[str]:
    arms = {one.info["id"]: one for one in SCENARIOS["three_arms"]()}
    return pieces(output_of(arms[name]))


@pytest.mark.parametrize("name", ["three_arms", "hostile", "characters"])
def test_a_copy_is_exactly_the_output(open_strip: Opener, name: str) -> None:
    page = open_strip(name)
    wait_until_drawn(page)
    pane = len(SCENARIOS[name]()) // 2
    # Chromium's clipboard ends a text at U+0000; what the strip hands over has it.
    expected = output_of(SCENARIOS[name]()[pane])
    assert handed_over(page, pane) == expected
    if "\0" not in expected:
        assert copied(page, pane) == expected


def handed_over(page: Page, pane: int) -> str:
    """What the copy handler puts on the clipboard for a whole pane."""
    text: str = output(page, pane).evaluate("""(text) => {
      document.getSelection().selectAllChildren(text);
      const data = new DataTransfer();
      const event = { clipboardData: data, bubbles: true, composed: true, cancelable: true };
      text.dispatchEvent(new ClipboardEvent("copy", event));
      return data.getData("text/plain");
    }""")
    return text


def test_model_text_is_never_markup(open_strip: Opener) -> None:
    page = open_strip("hostile")
    wait_until_drawn(page)
    page.locator(".text .rejected").first.hover()
    step_with(page, "rejected").locator(".tok").first.click()
    expect(page.locator(".inspector .card").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert output(page).locator("img, script").count() == 0
    shown = output(page).inner_text()
    assert HOSTILE[0] in shown
    assert HOSTILE[1] in shown
    assert "␛[31mred␀" in shown


def test_half_characters_leave_a_mark_that_is_not_text(open_strip: Opener) -> None:
    page = open_strip("characters")
    wait_until_drawn(page)
    assert tokens(page) == [["unknown", text] for text in ("", "", "한", " ok")]
    expect(output(page).locator(".half")).to_have_count(2)


def test_a_revision_replaces_what_was_guessed(open_strip: Opener) -> None:
    page = open_strip("revised", size=1, pace=150)
    expect(output(page)).to_contain_text("WRONG")
    wait_until_drawn(page)
    expect(output(page)).not_to_contain_text("WRONG")
    assert handed_over(page, 0) == "the quick brown fox"
    expect(page.locator(".badge")).to_have_text("counted")


@pytest.mark.parametrize("resume", ["seen", "numbers"])
def test_a_dropped_connection_resumes_without_loss_or_duplicates(
    open_strip: Opener, resume: str
) -> None:
    page = open_strip("three_arms", size=3, drop=4, resume=resume)
    wait_until_drawn(page)
    for pane, one in enumerate(SCENARIOS["three_arms"]()):
        assert handed_over(page, pane) == output_of(one)


def test_a_refused_run_says_why_and_asks_no_more(open_strip: Opener) -> None:
    page = open_strip("no_such_scenario")
    expect(page.locator(".message")).to_have_text("This run is gone: start it again.")


def test_without_a_run_it_says_what_to_do(open_strip: Opener) -> None:
    page = open_strip("")
    expect(page.locator(".empty-panes")).to_contain_text("press Run")


def test_the_inspector_shows_the_rule_with_its_numbers(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    steps = chain_steps(pieces_of_arm("draft"), sampled=True)
    index, step = next(
        (n, s) for n, s in enumerate(steps) if s.num_accepted and s.num_accepted < len(s.drafted)
    )
    output(page, 1).locator(f"[data-step='{index}'] .tok").first.click()
    inspector = page.locator(".inspector")
    expect(inspector.locator("h3")).to_have_text(
        f"draft_model · K 5 · step {index + 1} of {len(steps)}"
    )
    expect(inspector.locator(".summary")).to_contain_text(
        f"drafted 5, accepted {step.num_accepted}, then recovered"
    )
    expect(inspector.locator(".card")).to_have_count(6)
    rejected = next(d for d in step.drafted if d.verdict == "rejected")
    card = inspector.locator(".card.rejected")
    assert rejected.target_prob is not None
    assert rejected.draft_prob is not None
    assert rejected.u is not None
    numbers = [f"{rejected.target_prob:.3f}", f"{rejected.draft_prob:.3f}"]
    expect(card.locator(".number")).to_have_text(numbers)
    ratio = rejected.target_prob / rejected.draft_prob
    expect(card.locator(".rule")).to_have_text(f"u {rejected.u:.2f} > min(1, {ratio:.2f})")
    expect(card.locator(".best li")).to_have_count(5)
    if rejected.depth < 5:
        expect(inspector.locator(".card.unverified").first).to_contain_text("not judged")


def test_at_temperature_zero_the_rule_is_the_first_choice(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    output(page, 2).locator(".step:has(.rejected) .tok").first.click()
    rule = page.locator(".inspector .card.rejected .rule")
    expect(rule).to_have_text("target's first choice: no")


def test_a_step_without_a_draft_is_one_sentence(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    output(page, 0).locator(".tok").first.click()
    expect(page.locator(".inspector .summary")).to_contain_text("nothing was drafted")
    expect(page.locator(".inspector .card")).to_have_count(0)


def test_a_tree_shows_siblings_below_each_other(open_strip: Opener) -> None:
    page = open_strip("tree")
    wait_until_drawn(page)
    output(page).locator(".step").nth(1).locator(".tok").first.click()
    depths = page.locator(".tree .card .depth")
    expect(depths).to_have_count(8)  # seven drafted, one of the target's own
    places = page.locator(".tree .card").evaluate_all(
        """(cards) => cards.map((card) => [
          card.querySelector(".depth").textContent, Math.round(card.getBoundingClientRect().left),
        ])"""
    )
    columns = {depth: {left for d, left in places if d == depth} for depth, _ in places}
    assert all(len(lefts) == 1 for lefts in columns.values())  # siblings share a column
    first, second, third = (columns[f"depth {n}"].pop() for n in (1, 2, 3))
    assert first < second < third


def test_unnamed_drafts_say_how_to_name_them(open_strip: Opener) -> None:
    page = open_strip("counted")
    wait_until_drawn(page)
    expect(output(page).locator(".rejected").first).to_have_text("?")
    step_with(page, "rejected").locator(".tok").first.click()
    expect(page.locator(".inspector .unnamed-note")).to_contain_text("specviz serve")


def test_the_toggle_hides_rejected_drafts_and_is_remembered(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    draft = output(page, 1).locator(".rejected").first
    expect(draft).to_be_visible()
    page.get_by_label("show rejected drafts").uncheck()
    expect(draft).to_be_hidden()
    page = open_strip("three_arms")
    wait_until_drawn(page)
    expect(output(page, 1).locator(".rejected").first).to_be_hidden()


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


def test_keys_go_from_step_to_step_and_open_one(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    page.locator(".scroller").nth(1).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.locator(".tip")).to_contain_text("step3")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h3")).to_contain_text("step 3 of")


def test_the_tooltip_tells_what_is_known_of_a_token(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    output(page, 1).locator(".rejected").last.hover()
    tip = page.locator(".tip")
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


def test_a_missing_figure_is_a_dash_with_its_reason(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    wait_until_drawn(page)
    figure = page.locator(".pane").first.locator(".figure").nth(1)
    expect(figure.locator("dd")).to_have_text("–")
    figure.hover()
    expect(page.locator(".tip")).to_contain_text("the baseline drafts nothing")


def test_the_end_of_a_live_run_reruns_the_page_once(open_strip: Opener) -> None:
    page = open_strip("three_arms")
    expect(page.get_by_text("ends: 1")).to_be_visible()
    wait_until_drawn(page)
    page.wait_for_timeout(700)
    expect(page.get_by_text("ends: 1")).to_be_visible()
    assert handed_over(page, 0) == output_of(SCENARIOS["three_arms"]()[0])


def test_a_pane_follows_the_newest_token_unless_the_reader_scrolled_up(
    open_strip: Opener,
) -> None:
    page = open_strip("long_run", size=4, pace=30)
    distance = "(s) => s.scrollHeight - s.scrollTop - s.clientHeight"
    scroller = page.locator(".scroller")
    scroller.locator(".step[data-step='60']").wait_for(state="attached")
    assert scroller.evaluate(distance) < 30
    scroller.hover()
    page.mouse.wheel(0, -5000)
    page.wait_for_timeout(150)
    shown = scroller.locator(".step").count()
    scroller.locator(f".step[data-step='{shown + 40}']").wait_for(state="attached")
    assert scroller.evaluate("(s) => s.scrollTop") == 0
    page.mouse.wheel(0, 100_000)
    page.wait_for_timeout(300)
    assert scroller.evaluate(distance) < 30


@pytest.mark.parametrize("name", ["four_arms", "tree", "hostile"])
def test_nothing_scrolls_sideways(open_strip: Opener, name: str) -> None:
    page = open_strip(name)
    wait_until_drawn(page)
    step_with(page, "rejected").locator(".tok").first.click()
    for width in (1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.locator(".strip-root").evaluate("""(root) => {
          const inner = root.querySelectorAll(".scroller, .card");
          return [document.documentElement, root, ...inner]
            .filter((node) => node.scrollWidth > node.clientWidth + 1).length;
        }""")
        assert wide == 0, f"at {width} px"


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
