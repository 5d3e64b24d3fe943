"""Tree drafts in a real browser: candidates of one position, and those never judged."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.strip.reading import Opener, copied, output, tokens, wait_until_drawn

pytestmark = pytest.mark.e2e


def test_rejected_candidates_stand_before_the_token_at_their_position(drawn: Opener) -> None:
    page = drawn("siblings")
    assert tokens(page) == [
        ["rejected", "first"],
        ["accepted", "the"],
        ["rejected", "wrong"],
        ["rejected", "worse"],
        ["accepted", " quick"],
        ["rejected", "no"],
        ["rejected", "nor"],
        ["recovered", " fox"],
    ]
    frames = output(page).locator(".siblings")
    expect(frames).to_have_count(2)
    expect(frames.first.locator(".tok")).to_have_text(["wrong", "worse"])
    expect(output(page).locator(".more")).to_have_text("+3")
    assert copied(page) == "the quick fox"


def test_hidden_drafts_leave_no_empty_frames(drawn: Opener) -> None:
    page = drawn("siblings")
    page.get_by_label("show rejected drafts").uncheck()
    expect(output(page).locator(".siblings").first).to_be_hidden()
    page.get_by_label("show rejected drafts").check()


def test_the_inspector_lists_the_candidates_with_their_probabilities(drawn: Opener) -> None:
    page = drawn("siblings")
    output(page).locator(".accepted").first.click()
    inspector = page.locator(".inspector")
    expect(inspector.locator(".summary")).to_contain_text("the lookup matched the last 2 tokens")
    allowed = "at most 10 draft tokens allowed (policy: any request, 1 running)"
    expect(inspector.locator(".summary")).to_contain_text(allowed)
    rows = inspector.locator(".candidates tr")
    cells = [row.locator("td").all_inner_texts() for row in rows.all()][1:]
    assert [(row[0], row[1], row[6]) for row in cells] == [
        ("1", "first", "rejected"),
        ("", "the", "accepted"),
        ("", "third", "unverified"),
        ("2", "wrong", "rejected"),
        ("", "worse", "rejected"),
        ("", "␣quick", "accepted"),
        ("3", "no", "rejected"),
        ("", "nor", "rejected"),
    ]
    assert cells[0][2:6] == ["0.300", "0.400", "0.200", "u 0.90 > 0.20"]
    assert cells[2][4:6] == ["–", "not judged: another candidate was accepted here"]


def test_the_targets_own_token_hangs_below_the_last_accepted_one(drawn: Opener) -> None:
    page = drawn("siblings")
    output(page).locator(".recovered").first.click()
    own = page.locator(".tree .card.own")
    expect(own).to_have_count(1)
    expect(own).to_contain_text("0.600")  # its probability after that token, not after another
    parent = own.locator("xpath=ancestor::li[contains(@class, 'branch')][2]/div[1]")
    expect(parent.locator(".name")).to_have_text("␣quick")


def test_unverified_tokens_say_why(drawn: Opener) -> None:
    page = drawn("siblings")
    output(page).locator(".accepted").first.click()
    cards = page.locator(".tree .card.unverified")
    expect(cards.filter(has_text="third")).to_contain_text("another candidate was accepted here")
    expect(cards.filter(has_text="below")).to_contain_text("an earlier token was rejected")
    expect(cards.filter(has_text="deeper")).to_contain_text("its branch was left")


def test_typical_acceptance_is_labelled_not_lossless(open_strip: Opener) -> None:
    page = open_strip("typical")
    wait_until_drawn(page)
    label = page.locator(".lossy")
    expect(label).to_be_visible()
    label.hover()
    expect(page.locator(".tip")).to_contain_text("does not follow the target's distribution")
    output(page).locator(".accepted").first.click()
    rule = page.locator(".card.accepted .rule").first
    expect(rule).to_have_text("typical enough for the target: yes")


def test_lossless_arms_carry_no_such_label(drawn: Opener) -> None:
    expect(drawn("siblings").locator(".lossy")).to_be_hidden()
