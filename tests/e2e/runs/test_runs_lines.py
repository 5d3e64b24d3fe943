"""What is one line of the Runs list: a group, a run, a prompt; its columns, and saved views."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.runs.test_runs_page import (
    NAME_PX,
    TICK_PX,
    action,
    cell,
    click_cell,
    lines,
    press,
    tag,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

HEADERS = ["name: click to open", "model", "kind"]


def test_runs_started_together_are_one_line_that_opens_side_by_side(
    page: Page, runs_url: str
) -> None:
    page.goto(f"{runs_url}?runs_text=write")
    table = lines(page, 1)
    expect(cell(table, "medusa · K 12 · tree, eagle3 · K 5")).to_be_attached()
    click_cell(table, 0, TICK_PX)
    expect(page.get_by_text("2 runs ticked")).to_be_visible()
    tag(page, "both")
    table = lines(page, 1)
    click_cell(table, 0, NAME_PX)
    expect(page).to_have_url(re.compile(r"/runs\?group=together$"))
    expect(page.get_by_role("heading", name="medusa")).to_contain_text("against")


def test_a_prompt_opens_to_its_runs_and_back(page: Page, runs_url: str) -> None:
    page.goto(runs_url)
    lines(page, 5)
    page.get_by_text("Prompts", exact=True).click()
    table = lines(page, 4)
    expect(cell(table, "1 run: medusa")).to_be_attached()
    click_cell(table, 3, NAME_PX)
    expect(page.get_by_text("Runs that answered Merge two sorted lists")).to_be_visible()
    lines(page, 1)
    press(page, "All prompts")
    lines(page, 4)
    expect(page).to_have_url(re.compile(r"/runs\?runs_lines=Prompts$"))


def test_a_view_keeps_filters_lines_order_and_columns(page: Page, runs_url: str) -> None:
    page.goto(
        f"{runs_url}?runs_methods=eagle3&runs_methods=medusa&runs_lines=Single+runs"
        "&runs_order=by+name&runs_columns=model&runs_columns=kind"
    )
    table = lines(page, 2)
    headers = table.locator("th")
    expect(headers).to_have_text(HEADERS)
    address = page.url
    press(page, "Views")
    page.get_by_label("Save filters, lines, order and columns as").fill("<b>drafts</b>")
    popover = page.get_by_test_id("stPopoverBody")
    popover.get_by_role("button", name="Save this view").click()
    expect(action(page, "<b>drafts</b>")).to_be_visible()
    page.goto(runs_url)
    lines(page, 5)
    press(page, "<b>drafts</b>")
    expect(lines(page, 2).locator("th")).to_have_text(HEADERS)
    assert {*page.url.partition("?")[2].split("&")} == {*address.partition("?")[2].split("&")}
    press(page, "Views")
    popover.get_by_role("button", name="Delete").click()
    expect(action(page, "<b>drafts</b>")).to_have_count(0)
