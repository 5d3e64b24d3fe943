"""The terminal: nothing that a server, a model or a file says reaches it as a control sequence.

A JSON string may hold the same escapes, so text and JSON pass through one place.
"""

from __future__ import annotations

import os
import re
from typing import Any, TextIO, cast

_UNSEEN = (
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069"
    r"\ufeff\ud800-\udfff]|(?<!^)\r"
)
"""Controls, what turns text around, what takes no room, and halves of characters. A carriage return
at the start is progress that is written over."""

_STYLE = r"\x1b\[(?:[0-9;]*m|\?25[hl]|[0-9]*A|2K)"
"""Colours, and what a progress that is drawn again moves the cursor with."""
_ALL = re.compile(_UNSEEN)
_ALL_BUT_STYLES = re.compile(f"({_STYLE})|{_UNSEEN}")


def escaped(text: str) -> str:
    """`text` with each character that cannot be seen as `\\uXXXX`."""
    return _ALL.sub(_code, text)


def escaping(stream: TextIO) -> TextIO:
    """The stream, escaped as it is written; only a terminal gets what rich and typer style with."""
    return cast(TextIO, _Escaping(stream))


class _Escaping:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        styled = stream.isatty() or "FORCE_COLOR" in os.environ
        self._unseen = _ALL_BUT_STYLES if styled else _ALL

    def write(self, text: str) -> int:
        self._stream.write(self._unseen.sub(_code, text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _code(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > 1 else f"\\u{ord(found[0]):04x}"
