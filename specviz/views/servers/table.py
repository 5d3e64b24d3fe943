"""The fleet as a table of definition lists: columns while there is room, labels where there is not.

Every word is escaped: names and models are what people and servers wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

import streamlit as st

from specviz.palette import css_variables
from specviz.views.servers.cells import HEADS, Cell

_CSS = Path(__file__).with_name("fleet.css")
_CURVE_WIDTH, _CURVE_HEIGHT = 86, 18


def show_style() -> None:
    """Once per page."""
    st.html(f"<style>{css_variables('.fleet')}{_CSS.read_text(encoding='utf-8')}</style>")


def show_heads() -> None:
    """The names of the columns, for eyes: every row says them to screen readers."""
    heads = "".join(f"<div>{escape(head)}</div>" for head in HEADS)
    st.html(f'<div class="fleet" aria-hidden="true"><div class="row heads">{heads}</div></div>')


def show_cells(cells: Sequence[Cell], state: Cell | None) -> None:
    st.html(row_html(cells, state))


def row_html(cells: Sequence[Cell], state: Cell | None) -> str:
    """One server: a heading, its cells, and what is wrong with it."""
    name, *others = cells
    small = f"<small>{escape(name.small)}</small>" if name.small else ""
    said = reason = ""
    if state is not None:
        said = f'<small class="{state.tone}">{escape(state.text)}</small>'
        reason = f'<small class="reason">{escape(state.small)}</small>' if state.small else ""
    facts = "".join(
        f"<div><dt>{escape(head)}</dt><dd>{_cell_html(cell)}</dd></div>"
        for head, cell in zip(HEADS[1:], others, strict=True)
    )
    return (
        '<div class="fleet"><div class="row">'
        f"<div><h2>{escape(name.text)}</h2>{small}{said}</div>"
        f"<dl>{facts}</dl>{reason}</div></div>"
    )


def _cell_html(cell: Cell) -> str:
    hint = f' title="{escape(cell.hint)}"' if cell.hint else ""
    small = f"<small>{escape(cell.small)}</small>" if cell.small else ""
    words = escape(cell.text).replace(" K ", " K&nbsp;")  # `K 5` is one word
    text = f'<span class="{cell.tone}"{hint}>{words}</span>'
    return text + curve_svg(cell.curve) + small


def curve_svg(curve: Sequence[float | None]) -> str:
    """Rates from 0 (bottom) to 1, a gap where there is none; empty without two in a row."""
    step = _CURVE_WIDTH / max(1, len(curve) - 1)
    lines = []
    for is_there, points in groupby(enumerate(curve), key=lambda point: point[1] is not None):
        placed = [*_placed(points, step)] if is_there else []
        if len(placed) > 1:
            lines.append(f'<polyline points="{" ".join(placed)}" />')
    if not lines:
        return ""
    size = f'width="{_CURVE_WIDTH}" height="{_CURVE_HEIGHT}"'
    return f'<svg {size} aria-hidden="true">{"".join(lines)}</svg>'


def _placed(points: Iterable[tuple[int, float | None]], step: float) -> Iterable[str]:
    inside = _CURVE_HEIGHT - 3
    for index, rate in points:
        yield f"{index * step:.1f},{1.5 + (1 - (rate or 0.0)) * inside:.1f}"
