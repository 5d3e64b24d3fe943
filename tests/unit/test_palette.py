"""A token has one colour, in the browser, in figures, in reports and in the terminal."""

from __future__ import annotations

import re
import tomllib

import pytest

from specviz import palette
from specviz.commands.single_run import REJECTED, STYLES
from specviz.figures.style import DARK, LIGHT, Ground, blended
from specviz.paths import PROJECT_ROOT
from specviz.report.scripts import page_style
from specviz.strip import assets
from specviz.trace import Origin

HUES = {value.lower() for value in vars(palette).values() if re.match(r"#\w{6}$", str(value))}


@pytest.mark.parametrize("name", ["ACCEPTED", "RECOVERED", "REJECTED"])
def test_strip_and_report_have_the_colours_of_the_palette(name: str) -> None:
    declared = f"--{name.lower()}: {getattr(palette, name)};"
    assert declared in assets.style()
    assert declared in page_style()


def test_the_terminal_has_the_colours_of_the_palette() -> None:
    assert palette.ACCEPTED in STYLES[Origin.ACCEPTED]
    assert palette.RECOVERED in STYLES[Origin.RECOVERED]
    assert palette.BONUS in STYLES[Origin.BONUS]
    assert palette.REJECTED in REJECTED


def test_figures_have_the_bonus_of_their_ground() -> None:
    assert (LIGHT.bonus, DARK.bonus) == (palette.BONUS, palette.BONUS_ON_DARK)


def test_no_other_file_spells_a_colour_of_the_palette() -> None:
    files = [path for kind in ("py", "css", "js", "html")
             for path in PROJECT_ROOT.glob(f"specviz/**/*.{kind}")]  # fmt: skip
    assert len(files) > 300
    found = {path.name for path in files
             if HUES & set(re.findall(r"#\w{6}", path.read_text("utf-8").lower()))}  # fmt: skip
    assert len(HUES) >= 7
    assert found == {"palette.py"}


def test_every_variable_that_a_style_sheet_uses_is_declared() -> None:
    for style in (assets.style(), page_style()):
        used = set(re.findall(r"var\(--([a-z-]+)\)", style))
        assert "recovered" in used
        assert used - {"strip-height"} <= set(re.findall(r"--([a-z-]+):", style))


THEME = tomllib.loads((PROJECT_ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
FADED = 0.6
"""Streamlit's captions are the text at this opacity."""

AA = 4.5
"""WCAG 2.2, 1.4.3: contrast of words, https://www.w3.org/TR/WCAG22/#contrast-minimum"""


def contrast(one: str, other: str) -> float:
    """The ratio of relative luminances, from 1 to 21, of two colours as #rrggbb."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(w * s for w, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("name", ["light", "dark"])
def test_words_of_the_theme_can_be_read(name: str) -> None:
    theme = THEME[name]
    keys = ("backgroundColor", "secondaryBackgroundColor")
    grounds = {place[key] for place in (theme, theme["sidebar"]) for key in keys}
    on_buttons = {"light": "#ffffff", "dark": DARK.background}[name]  # as in page.css
    assert contrast(on_buttons, theme["primaryColor"]) >= AA
    for ground in grounds:
        words = (
            theme["primaryColor"],
            theme["textColor"],
            blended(theme["textColor"], ground, FADED),
        )
        for colour in (*words, theme["linkColor"], theme["grayColor"]):
            assert contrast(colour, ground) >= AA, (colour, ground)


@pytest.mark.parametrize("token", ["ACCEPTED", "RECOVERED", "REJECTED", "BONUS", "ASIDE"])
def test_words_of_a_token_can_be_read_and_are_the_strip_s_and_the_report_s(token: str) -> None:
    words = getattr(palette, f"{token}_WORDS")
    for colour, ground in zip(words, (LIGHT.background, DARK.background), strict=True):
        assert contrast(colour, ground) >= AA, (colour, ground)
    declared = f"--{token.lower()}-text: light-dark({', '.join(words)});"
    assert declared in assets.style() and declared in page_style()


def test_coloured_code_can_be_read() -> None:
    style = (PROJECT_ROOT / "specviz" / "views" / "page.css").read_text("utf-8")
    rules = re.findall(r"\.token:is\([^)]*\) \{\s*color: light-dark\((#\w{6}), (#\w{6})\)", style)
    assert len(rules) == 4
    for name, colours in zip(("light", "dark"), zip(*rules, strict=True), strict=True):
        ground = THEME[name]["codeBackgroundColor"]
        assert all(contrast(colour, ground) >= AA for colour in colours), name


@pytest.mark.parametrize(("name", "ground"), [("light", LIGHT), ("dark", DARK)])
def test_figures_have_the_colours_of_the_theme(name: str, ground: Ground) -> None:
    theme = THEME[name]
    found = (theme["backgroundColor"], theme["textColor"], theme["grayColor"])
    assert found == (ground.background, ground.ink, ground.muted)
    assert theme["sidebar"]["textColor"] == ground.ink


def test_the_theme_takes_its_accents_from_the_palette() -> None:
    assert THEME["light"]["primaryColor"] == palette.BLUE
    assert THEME["dark"]["primaryColor"] == palette.SKY
    assert [THEME[name]["linkColor"] for name in ("light", "dark")] == [palette.BLUE, palette.SKY]
