"""Where the time of a step goes, in the HTML file: a stacked bar, its parts in words, the sentence.

The policy of the page allows no style attributes: a bar is drawn in SVG.
"""

from __future__ import annotations

from specviz.analysis.step_time.bar import BESIDE, COLOURS, PLAIN, WHOLE, StepBar
from specviz.analysis.step_time.step_time import StepTime
from specviz.analysis.text import digits
from specviz.report.markup import text

WIDTH, HEIGHT = 1000, 20
FAINT = 0.45
"""Opacity of the parts that the app hatches."""


def step_time_part(found: StepTime | None, plain_ms: float | None, sentence: str) -> str:
    """`sentence` under the bar of a mean step; alone where the steps are not known.

    `plain_ms`: a token of plain decoding, None where it was not measured.
    """
    line = f'<p class="sentence">{text(sentence)}</p>'
    return line if found is None else _bar(StepBar("", found, plain_ms)) + line


def _bar(bar: StepBar) -> str:
    """As wide as the step or as plain decoding of its tokens, which a line marks."""
    scale = WIDTH / max(sum(bar.parts.values()), bar.plain_step_ms or 0.0)
    drawn, at = [], 0.0
    for name, took in bar.parts.items():
        drawn.append(_rect(name, at * scale, took * scale))
        at += took
    words = [f"{_key(name)} {text(name)} {digits(took)} ms" for name, took in bar.parts.items()]
    if bar.plain_step_ms is not None:
        place = min(bar.plain_step_ms * scale, WIDTH - 2)
        drawn.append(f'<rect class="mark" x="{place:.1f}" width="4" height="{HEIGHT}"/>')
        words.append(f"┃ {text(PLAIN)} {digits(bar.plain_step_ms)} ms")
    return (
        f'<svg class="step" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true">{"".join(drawn)}</svg>'
        f'<p class="parts">mean step: {" · ".join(words)}</p>'
    )


def _rect(name: str, at: float, width: float) -> str:
    opacity = f' fill-opacity="{FAINT}"' if name in (BESIDE, WHOLE) else ""
    return (
        f'<rect x="{at:.1f}" width="{width:.1f}" height="{HEIGHT}" '
        f'fill="{COLOURS[name]}"{opacity}/>'
    )


def _key(name: str) -> str:
    """A small square in the colour of the part."""
    return f'<svg class="key" viewBox="0 0 20 20" aria-hidden="true">{_rect(name, 0, HEIGHT)}</svg>'
