"""Token text with everything spelled out, as the token strip's `visibleText` does."""

from __future__ import annotations

import re
import unicodedata

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_SPELLED = str.maketrans({"\n": "⏎", "\t": "⇥", " ": "␣"})


def visible_text(text: str) -> str:
    """Spaces, line ends, control characters and bidirectional marks as signs of their own."""
    shown = _CONTROL.sub(_symbol, text).translate(_SPELLED)
    return _INVISIBLE.sub(_code_point, shown)


def token_name(text: str | None) -> str:
    """A token's text spelled out; `?` where it is not told, `·` for part of a character."""
    if text is None:
        return "?"
    return visible_text(text) if text else "·"


def shortened(text: str, most: int) -> str:
    """At most `most` characters, the last of them an ellipsis if any are missing."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _symbol(control: re.Match[str]) -> str:
    code = ord(control[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\u2426"


def _code_point(mark: re.Match[str]) -> str:
    before = mark.string[: mark.start()].removesuffix("\ufe0f")[-1:]
    if mark[0] == "\u200d" and before and unicodedata.category(before) in ("So", "Sk"):
        return mark[0]  # joins the parts of one picture
    return f"‹U+{ord(mark[0]):04X}›"
