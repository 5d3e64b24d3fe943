"""The Runs page over a store as somebody left it: filter, tick, tag, rename, delete, open."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsers import settled
from tests.support.runs.samples import HOSTILE

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
ROW_PX = 35
TICK_PX, NAME_PX = 16, 70
SINGLE = "runs_lines=Single+runs"


def lines(page: Page, number: int) -> Locator:
    """The table once it has this many lines."""
    word = "line" if number == 1 else "lines"
    expect(page.get_by_text(re.compile(rf"^{number} {word} · "))).to_be_visible(timeout=SLOW_MS)
    table = page.get_by_test_id("stDataFrame")
    expect(table).to_have_count(1)  # the one of before has gone
    return table


def click_cell(table: Locator, row: int, x: int) -> None:
    """The grid is a picture: lines are found by their height."""
    table.click(position={"x": x, "y": ROW_PX * (row + 1) + ROW_PX // 2})


def cell(table: Locator, text: str) -> Locator:
    """A cell of the table that readers of the screen are given."""
    return table.locator("td").filter(has_text=text).first


def action(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True)


def press(page: Page, name: str) -> None:
    """Click the button, once what it replaces is gone: the page before may have one too."""
    expect(action(page, name)).to_have_count(1)
    action(page, name).click()


def tag(page: Page, tags: str) -> None:
    """Give the ticked lines these tags."""
    press(page, "Tag")
    dialog = page.get_by_role("dialog")
    box = dialog.get_by_label("New tags")
    box.fill(tags)
    box.press("Tab")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)


@pytest.mark.slow
def test_filters_in_the_url_then_two_are_tagged_and_compared(page: Page, runs_url: str) -> None:
    page.goto(runs_url)
    table = lines(page, 5)
    page.get_by_placeholder("Search names").fill("merge two")
    table = lines(page, 2)
    expect(page).to_have_url(re.compile("runs_text=merge"))
    page.goto(f"{runs_url}?runs_methods=medusa&runs_methods=baseline&{SINGLE}")
    table = lines(page, 2)
    click_cell(table, 0, TICK_PX)
    click_cell(table, 1, TICK_PX)
    expect(page.get_by_text("2 runs ticked")).to_be_visible()
    tag(page, "to show, , x")
    page.goto(f"{runs_url}?runs_tags=to+show&{SINGLE}")
    table = lines(page, 2)
    click_cell(table, 0, TICK_PX)
    click_cell(table, 1, TICK_PX)
    press(page, "Compare")
    expect(page).to_have_url(re.compile(r"/compare\?arms=r1(,|%2C)r0"))


def test_a_run_is_renamed_deleted_brought_back_and_opened(page: Page, runs_url: str) -> None:
    page.goto(f"{runs_url}?runs_text=sorted+lists&{SINGLE}")
    table = lines(page, 1)
    click_cell(table, 0, TICK_PX)
    press(page, "Rename")
    page.get_by_role("dialog").get_by_label("Name").fill("Sorted lists <i>again</i>")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(cell(table, "Sorted lists <i>again</i>")).to_be_attached()
    press(page, "Delete")
    expect(page.get_by_text("Nothing matches these filters.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    click_cell(lines(page, 1), 0, NAME_PX)
    expect(page).to_have_url(re.compile(r"/runs\?run=r0$"))
    expect(page.get_by_role("heading", name="Sorted lists <i>again</i>")).to_be_visible()


@pytest.mark.slow
def test_an_opened_run_is_deleted_and_removed_for_good(page: Page, runs_url: str) -> None:
    page.goto(f"{runs_url}?run=r0")
    press(page, "Delete")
    expect(page.get_by_text("is in no list")).to_be_visible()
    page.goto(f"{runs_url}?runs_view=Deleted")
    click_cell(lines(page, 1), 0, TICK_PX)
    press(page, "Remove for good")
    page.get_by_role("dialog").get_by_role("button", name="Remove for good").click()
    expect(page.get_by_text("Nothing is deleted.")).to_be_visible()


@pytest.mark.slow
def test_an_opened_run_is_left_with_its_section_in_the_address(page: Page, runs_url: str) -> None:
    page.goto(f"{runs_url}?run=r1")
    settled(page)
    page.get_by_test_id("stButtonGroup").last.get_by_text("Configuration", exact=True).click()
    expect(page).to_have_url(re.compile(r"[?&]section=Configuration\b"))
    page.get_by_role("link", name="All runs").click()
    expect(page).to_have_url(runs_url, timeout=SLOW_MS)
    expect(page.get_by_test_id("stDataFrame")).to_have_count(1, timeout=SLOW_MS)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("run=gone", "There is no run gone"),
        pytest.param("group=gone", "gone", marks=pytest.mark.slow),
        pytest.param("elsewhere=gone", "gone", marks=pytest.mark.slow),
        pytest.param(
            "runs_text=nothing+has+this", "Nothing matches these filters.", marks=pytest.mark.slow
        ),
    ],
)
def test_links_of_an_earlier_version_keep_what_they_say(
    page: Page, runs_url: str, query: str, sentence: str
) -> None:
    page.goto(f"{runs_url.replace('/runs', '/run')}?{query}")
    expect(page.get_by_text(sentence).first).to_be_visible(timeout=SLOW_MS)
    expect(page).to_have_url(re.compile(r"/runs\?" + re.escape(query)))


@pytest.mark.slow
def test_an_opened_run_is_done_again_on_live_with_everything_set(page: Page, runs_url: str) -> None:
    page.goto(f"{runs_url}?run=r1")
    expect(page.locator(".pane .tok").first).to_be_visible(timeout=SLOW_MS)
    press(page, "Copy as a command")
    command = page.get_by_test_id("stPopoverBody").locator("code")
    expect(command).to_contain_text("--method medusa --k 12 --temperature 0.7 --max-tokens 96")
    expect(page.get_by_text("64 × somebody's processor")).to_be_visible()
    page.keyboard.press("Escape")
    press(page, "Run this again")
    expect(page.get_by_label("Prompt")).to_have_value("Write a story", timeout=SLOW_MS)
    sampling = page.get_by_role("button", name="temperature 0.7 · seed 41 · 96 tokens")
    expect(sampling).to_be_visible()
    page.get_by_role("button", name="Arms: medusa K 12 tree").click()
    expect(page.get_by_role("combobox", name="dtype").first).to_have_value("float32")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".pane[data-phase=finished] .title")).to_have_text("medusa · K 12 · tree")
    page.get_by_text("Open the stored run").click()
    expect(page.get_by_text("Write a story")).to_be_visible()


@pytest.mark.slow
def test_what_people_and_models_wrote_is_text(page: Page, runs_url: str) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    page.goto(f"{runs_url}?runs_text=onerror")
    lines(page, 2)
    page.goto(f"{runs_url}?run=r3&request=2")
    expect(page.get_by_test_id("stSelectbox").get_by_role("combobox")).to_have_value(
        re.compile(r"^2 · <img src=x .* creative_writing")
    )
    expect(page.get_by_role("heading", level=3).first).to_contain_text("<img src=x onerror=")
    expect(page.get_by_text("<b>nightly</b>")).to_be_visible()
    page.get_by_text("Environment", exact=True).click()
    expect(page.get_by_text(re.compile(r"^Stored: .* \d+ % of all rows"))).to_be_visible()
    page.goto(f"{runs_url}?elsewhere=e1")
    expect(page.get_by_text("measured elsewhere")).to_be_visible()
    expect(page.get_by_text("0.800, 0.600, 0.400")).to_be_visible()
    page.get_by_text("File", exact=True).click()
    expect(page.get_by_text(HOSTILE[:20]).first).to_be_visible()
    assert page.evaluate("window.pwned") is None and not dialogs
    expect(page.locator("img[src=x]")).to_have_count(0)
