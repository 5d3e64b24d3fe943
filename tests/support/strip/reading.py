"""What a test reads of a token strip: its panes, tokens, copies and steps."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

Opener = Callable[..., Page]

TOKENS = """(text) => [...text.querySelectorAll(".tok")].map((tok) => {
  const marks = new Set([tok, ...tok.querySelectorAll(".box")].flatMap((n) => [...n.classList]));
  const kinds = ["accepted", "recovered", "bonus", "target", "unknown", "rejected", "unverified"];
  return [kinds.find((kind) => marks.has(kind)), tok.textContent.replace(/\\n$/, "")];
})"""


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


def step_with(page: Page, mark: str) -> Locator:
    return page.locator(f".text .step:has(.{mark})").first
