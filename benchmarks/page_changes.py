"""How long a page takes to react to a change: in Chromium, from key or click to the new figures.

Measured in the browser: the time until the text that depends on the change is new, and until the
chart's data has changed. The real app, on an empty store without the sample, or on a copy of the
one that `--db` names. Pages take turns, so that background load hits them alike.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from playwright.sync_api import Page

from benchmarks.results_file import add_save_option, save
from benchmarks.started.app import started_app
from benchmarks.started.chromium import chromium
from specviz.machine import hardware_summary
from specviz.store import open_store
from specviz.store.shown import hide_sample

CHANGES = 20

WATCH = """
(hasChart) => {
  const main = document.querySelector('[data-testid=stMain]');
  const text = () => main.innerText;
  const charts = () => [...document.querySelectorAll('.js-plotly-plot')]
    .map(one => JSON.stringify((one.data || []).map(trace => [trace.y, trace.x]))).join();
  const before = [text(), hasChart ? charts() : ''];
  window.answered = {text: null, chart: null};
  window.addEventListener('pointerdown', () => { window.began ??= performance.now(); }, true);
  window.addEventListener('keydown', () => { window.began ??= performance.now(); }, true);
  window.began = null;
  const look = () => {
    const now = performance.now();
    if (window.began !== null) {
      if (window.answered.text === null && text() !== before[0])
        window.answered.text = now - window.began;
      if (hasChart && window.answered.chart === null && charts() !== before[1])
        window.answered.chart = now - window.began;
    }
    const done = window.answered.text !== null && (!hasChart || window.answered.chart !== null);
    if (!done) requestAnimationFrame(look);
  };
  look();
}
"""
DONE = (
    "(hasChart) => window.answered.text !== null && (!hasChart || window.answered.chart !== null)"
)


@dataclass(frozen=True)
class Change:
    """One change on a page, repeated; `act` gets the number of the repetition, and `unfold` is
    what has to be opened before."""

    name: str
    path: str
    ready: str
    act: Callable[[Page, int], None]
    unfold: str | None = None
    has_chart: bool = True


def nudge(page: Page, label: str, number: int) -> None:
    """A slider one step to the right, and back."""
    slider = page.get_by_role("slider", name=label)
    slider.press("ArrowRight" if number % 2 == 0 else "ArrowLeft")


def answer_yes_or_no(page: Page, number: int) -> None:
    group = page.get_by_test_id("stButtonGroup").filter(has_text="yes").first
    group.get_by_text("yes" if number % 2 == 0 else "no", exact=True).click()


def press_preset(page: Page, number: int) -> None:
    page.get_by_role("button", name=("disjoint", "close")[number % 2], exact=True).click()


def type_traffic(page: Page, number: int) -> None:
    field = page.get_by_label("Requests per day", exact=True)
    field.press("ArrowUp" if number % 2 == 0 else "ArrowDown")


ALPHA = "α, acceptance per token"
PAGES = (
    Change("K: the formula's α", "k", "What K does", lambda page, n: nudge(page, ALPHA, n)),
    Change(
        "Technique: an answer",
        "technique",
        "Draft model check",
        answer_yes_or_no,
        unfold="All questions and the whole tree",
        has_chart=False,
    ),
    Change("Cost: requests per day", "cost?cost_section=Payback", "All techniques", type_traffic),
    Change("Learn: another distribution", "learn", "What comes out", press_preset),
)


def measured(page: Page, change: Change, number: int) -> dict[str, float | None]:
    """ms from the event to the new text and to the new chart."""
    page.evaluate(WATCH, change.has_chart)
    change.act(page, number)
    page.wait_for_function(DONE, arg=change.has_chart, timeout=20_000)
    found: dict[str, float | None] = page.evaluate("window.answered")
    page.wait_for_timeout(400)  # let it finish redrawing: the rest belongs to this change
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", type=Path, help="a stored database; it is copied")
    parser.add_argument("--changes", type=int, default=CHANGES)
    add_save_option(parser, "page_changes")
    asked = parser.parse_args()
    found: dict[str, list[dict[str, float | None]]] = {change.name: [] for change in PAGES}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.duckdb"
        if asked.db:
            shutil.copy(asked.db, store)
        else:  # without a stored database it is published figures that change
            with open_store(store) as empty:
                empty.write(hide_sample, datetime.now(UTC))
        with started_app(store, Path(folder) / "app.log") as url, chromium() as browser:
            tabs = {}
            for change in PAGES:
                tabs[change.name] = tab = browser.new_page(viewport={"width": 1280, "height": 1000})
                tab.goto(f"{url}/{change.path}")
                tab.get_by_text(change.ready, exact=True).first.wait_for(timeout=60_000)
                if change.unfold:
                    tab.get_by_text(change.unfold, exact=True).click()
                tab.wait_for_timeout(3000)
            for number in range(asked.changes + 2):
                for change in PAGES:
                    figures = measured(tabs[change.name], change, number)
                    if number >= 2:  # the first ones fill caches
                        found[change.name].append(figures)
    report(found)
    if asked.save:
        save(asked.save, {"ms": found})


def report(found: dict[str, list[dict[str, float | None]]]) -> None:
    print(hardware_summary())
    for name, changes in found.items():
        parts = []
        for what in ("text", "chart"):
            times = sorted(ms for one in changes if (ms := one[what]) is not None)
            if times:
                spread = f"{times[0]:.0f} to {times[-1]:.0f}"
                parts.append(f"{what} {median(times):4.0f} ms ({spread})")
        print(f"{name:30} {'   '.join(parts)}   {len(changes)} changes")


if __name__ == "__main__":
    main()
