"""A token has one colour, in the browser, in figures, in reports and in the terminal."""

from __future__ import annotations

import re

import pytest

from specviz import palette
from specviz.commands.single_run import REJECTED, STYLES
from specviz.figures.style import DARK, LIGHT
from specviz.paths import PROJECT_ROOT
from specviz.report.scripts import page_style
from specviz.strip import assets
from specviz.trace import Origin

HUES = re.compile(r"#(?:0072B2|56B4E9|009E73|D55E00|CC79A7|E69F00|8A8F98)", re.IGNORECASE)


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
    found = {path.name for path in files if HUES.search(path.read_text("utf-8"))}
    assert found == {"palette.py"}


def test_every_variable_that_a_style_sheet_uses_is_declared() -> None:
    for style in (assets.style(), page_style()):
        used = set(re.findall(r"var\(--([a-z-]+)\)", style))
        assert "recovered" in used
        assert used - {"strip-height"} <= set(re.findall(r"--([a-z-]+):", style))
