"""Aligned answers as HTML, every text escaped: nothing that a model wrote is read as markup."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from specviz.analysis.compare.rows import Cell, Row, Span
from specviz.analysis.text import terminal_text, visible_text
from specviz.figures.style import MONO, Ground, blended
from specviz.palette import DRAFTING

LEAST_PX = 240
"""Width of a column under which the table scrolls sideways."""
TINT = 0.28


def rows_html(
    names: Sequence[str], colours: Sequence[str], rows: Sequence[Row], ground: Ground
) -> str:
    """One column per answer under its name, one row per aligned line."""
    line = f"1px solid {ground.line}"
    heads = "".join(
        f'<th style="text-align:left;font-weight:600;padding:6px 10px;border-bottom:{line};'
        f'color:{ground.ink}"><span style="color:{colour}">■</span> {escape(name)}</th>'
        for name, colour in zip(names, colours, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(_cell_html(cell, ground) for cell in row) + "</tr>" for row in rows
    )
    return (
        '<div style="overflow-x:auto" tabindex="0" role="region" aria-label="texts" '
        'class="compared-texts">'
        '<table style="border-collapse:collapse;table-layout:fixed;width:100%;'
        f"min-width:{LEAST_PX * len(names)}px;font-family:{MONO};"
        f'font-size:13px;line-height:1.5"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def names_html(arms: Sequence[tuple[str, str]]) -> str:
    """What is compared, each name next to its colour; the first one is the reference."""
    items = [
        f'<span style="white-space:nowrap"><span style="color:{colour}">■</span> {escape(name)}'
        f"{', the reference' if place == 0 else ''}</span>"
        for place, (name, colour) in enumerate(arms)
    ]
    gap = "display:flex;flex-wrap:wrap;gap:4px 20px;font-size:14px"
    return f'<div style="{gap}" class="compared-names">{"".join(items)}</div>'


def shown_text(text: str) -> str:
    """Lines stay lines and spaces spaces; control characters and invisible marks are signs."""
    return "\n".join(terminal_text(line) for line in text.split("\n"))


def _cell_html(cell: Cell, ground: Ground) -> str:
    spans = "".join(_span_html(span, ground) for span in _without_last_line_end(cell))
    return (
        '<td style="vertical-align:top;padding:0 10px;white-space:pre-wrap;'
        f'overflow-wrap:anywhere;unicode-bidi:plaintext;color:{ground.ink}">{spans}</td>'
    )


def _span_html(span: Span, ground: Ground) -> str:
    if not span.differs:
        return escape(shown_text(span.text))
    tint = blended(DRAFTING, ground.background, TINT)
    style = f"background:{tint};color:{ground.ink};border-radius:2px"
    if span.parts:
        style += f";box-shadow:inset 3px 0 0 {DRAFTING};padding-left:5px"
    # spaces and line ends that differ would not be seen
    text = shown_text(span.text) if span.text.strip() else visible_text(span.text)
    return f'<mark style="{style}">{escape(text)}</mark>'


def _without_last_line_end(cell: Cell) -> Cell:
    """The line end that ends the row anyway, where it is the same in all."""
    if not cell or cell[-1].differs or not cell[-1].text.endswith("\n"):
        return cell
    return (*cell[:-1], Span(cell[-1].text[:-1]))
