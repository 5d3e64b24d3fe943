"""The colours, once: of tokens wherever they are drawn or printed, of arms and of curves.

Hues: Okabe and Ito's, distinguishable with any colour vision (jfly.uni-koeln.de/color).
"""

from __future__ import annotations

BLUE, SKY = "#0072B2", "#56B4E9"
GREEN = "#009E73"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"
GREY = "#8a8f98"

# tokens: as lines, areas and in the terminal; as words, with WCAG AA contrast on light and on dark
ACCEPTED, ACCEPTED_WORDS = GREEN, ("#007355", "#2fc79a")
RECOVERED, RECOVERED_WORDS = VERMILION, ("#a84900", "#f08a45")
REJECTED, REJECTED_WORDS = PURPLE, ("#a03d74", "#d68fb6")
BONUS, BONUS_ON_DARK = BLUE, SKY
BONUS_WORDS = (BONUS, BONUS_ON_DARK)
ASIDE, ASIDE_WORDS = "#8f6fd1", ("#6b4bb8", "#b39ae8")
"""Thinking, tool calls, refusals: output that is not the answer's text."""

# lanes and arms
BASELINE = GREY
DRAFTING = ORANGE
"""The draft lane; the verify lane has the colour of the baseline, which verifies nothing else."""
OTHER_TIME = SKY
"""What is neither drafting nor verification."""

ARM_COLOURS = (BLUE, GREEN, VERMILION, PURPLE)
FAMILY_COLOURS = (*ARM_COLOURS, ORANGE, SKY, "#8f6fd1", "#a8763e")
"""Hues that are readable on white and on black, and two more."""


def _on_light_and_dark(colours: tuple[str, str]) -> str:
    return f"light-dark({colours[0]}, {colours[1]})"


_VARIABLES = {
    "accepted": ACCEPTED,
    "recovered": RECOVERED,
    "bonus": _on_light_and_dark((BONUS, BONUS_ON_DARK)),
    "rejected": REJECTED,
    "accepted-text": _on_light_and_dark(ACCEPTED_WORDS),
    "recovered-text": _on_light_and_dark(RECOVERED_WORDS),
    "bonus-text": _on_light_and_dark(BONUS_WORDS),
    "rejected-text": _on_light_and_dark(REJECTED_WORDS),
    "aside-text": _on_light_and_dark(ASIDE_WORDS),
    "accent": _on_light_and_dark((BLUE, SKY)),
}


def css_variables(selector: str) -> str:
    """A CSS rule that declares `--accepted`, `--rejected-text`, `--accent` … for `selector`."""
    lines = "".join(f"  --{name}: {value};\n" for name, value in _VARIABLES.items())
    return f"{selector} {{\n{lines}}}\n"
