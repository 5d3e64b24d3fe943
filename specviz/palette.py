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

# tokens
ACCEPTED = GREEN
RECOVERED = VERMILION
REJECTED = PURPLE
BONUS, BONUS_ON_DARK = BLUE, SKY

# lanes and arms
BASELINE = GREY
DRAFTING = ORANGE
"""The draft lane; the verify lane has the colour of the baseline, which verifies nothing else."""
OTHER_TIME = SKY
"""What is neither drafting nor verification."""

ARM_COLOURS = (BLUE, GREEN, VERMILION, PURPLE)
FAMILY_COLOURS = (*ARM_COLOURS, ORANGE, SKY, "#8f6fd1", "#a8763e")
"""Hues that are readable on white and on black, and two more."""

_ACCENT = f"light-dark({BLUE}, {SKY})"
_VARIABLES = {
    "accepted": ACCEPTED,
    "recovered": RECOVERED,
    "bonus": f"light-dark({BONUS}, {BONUS_ON_DARK})",
    "rejected": REJECTED,
    # The same hues for words, with WCAG AA contrast on both grounds.
    "accepted-text": "light-dark(#007355, #2fc79a)",
    "recovered-text": "light-dark(#a84900, #f08a45)",
    "bonus-text": f"light-dark({BONUS}, {BONUS_ON_DARK})",
    "rejected-text": "light-dark(#a03d74, #d68fb6)",
    "accent": _ACCENT,
}


def css_variables(selector: str) -> str:
    """A CSS rule that declares `--accepted`, `--rejected-text`, `--accent` … for `selector`."""
    lines = "".join(f"  --{name}: {value};\n" for name, value in _VARIABLES.items())
    return f"{selector} {{\n{lines}}}\n"
