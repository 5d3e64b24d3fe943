"""Pages under axe: WCAG 2.2 A and AA, without what Streamlit draws and no option of it changes."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.browsers import settled

OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "resultTypes": ["violations"],  # naming what passes takes most of axe's time
}
STREAMLITS = {
    # the navigation's headings are divs between the items of one list
    ("list", "stSidebarNavItems"),
    ("listitem", "stSidebarNav"),
}
NOT_FADED = """document.addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = '[data-stale] { opacity: 1 !important; transition: none !important; }';
  document.head.append(style);
})"""
"""Streamlit fades the elements that a long run is about to replace."""


def judged(page: Page, theme: str, width: int = 1280) -> Page:
    """The page, before it is opened, made ready to be judged in this theme, at this width."""
    # colours on their way would be judged
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    page.add_init_script(NOT_FADED)
    return page


def violations(page: Page) -> list[str]:
    """The findings of axe once the script has run, without those that are Streamlit's own."""
    settled(page)
    return found_by_axe(page)


def found_by_axe(page: Page) -> list[str]:
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]} · {node.get('failureSummary', '')[:200]}"
        for violation in found
        for node in violation["nodes"]
        if not is_streamlits(page, violation["id"], node)
    ]


def is_streamlits(page: Page, rule: str, node: dict[str, object]) -> bool:
    places = [place for known, place in STREAMLITS if known == rule]
    target = node["target"]
    if not places or not isinstance(target, list) or not isinstance(target[-1], str):
        return False
    inside = ", ".join(f"[data-testid={place}], [data-testid={place}] *" for place in places)
    return bool(page.locator(target[-1]).first.evaluate("(node, css) => node.matches(css)", inside))
