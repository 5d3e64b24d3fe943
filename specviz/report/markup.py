"""HTML from text: text of models, people and files is escaped here, and only here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MISSING = "–"
NAME = ' class="name"'
"""Of the head of a column that names the row."""

_UNSEEN = {
    code: f"\\u{code:04x}"
    for code in (*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0x202A, 0x202F),
                 *range(0x2066, 0x206A), 0x200E, 0x200F, 0xFEFF)
}  # fmt: skip
"""Control characters and direction marks are shown by code instead of taking effect."""


def text(value: Any) -> str:
    """A value as text of a page; None is a dash."""
    if value is None or value == "":
        return MISSING
    shown = str(value).translate(_UNSEEN)
    return escape(shown.encode("utf-8", "backslashreplace").decode())


def block(value: str) -> str:
    """Text that keeps its line breaks and its own direction."""
    return f'<pre dir="auto">{text(value)}</pre>'


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, names: int = 1) -> str:
    """A table; the first `names` columns name the row."""
    columns = "".join(
        f"<th{NAME if place < names else ''}>{text(name)}</th>" for place, name in enumerate(head)
    )
    body = "".join(f"<tr>{_cells(row, names)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{columns}</tr></thead>{body}</table></div>'


def pairs(items: Iterable[tuple[str, Any]]) -> str:
    """Names and values; a missing value is a dash."""
    body = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in items
    )
    return f"<dl>{body}</dl>"


def _cells(row: Sequence[Any], names: int) -> str:
    heads = "".join(f'<th scope="row">{text(value)}</th>' for value in row[:names])
    return heads + "".join(f"<td>{text(value)}</td>" for value in row[names:])
