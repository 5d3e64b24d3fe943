"""The token strip's inspector in a real browser: the cards of the step a reader opened."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.strip.reading import Opener, output, step_with, wait_until_drawn
from tests.support.strip.scenarios import pieces_of_arm
from tests.support.strip.steps import chain_steps

pytestmark = pytest.mark.e2e


def test_the_inspector_shows_the_rule_with_its_numbers(drawn: Opener) -> None:
    page = drawn("three_arms")
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


def test_at_temperature_zero_the_rule_is_the_first_choice(drawn: Opener) -> None:
    page = drawn("three_arms")
    output(page, 2).locator(".step:has(.rejected) .tok").first.click()
    rule = page.locator(".inspector .card.rejected .rule")
    expect(rule).to_have_text("target's first choice: no")


def test_a_step_without_a_draft_is_one_sentence(drawn: Opener) -> None:
    page = drawn("three_arms")
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
