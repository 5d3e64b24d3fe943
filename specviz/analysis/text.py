"""How numbers and texts are written, on every page, in every report and in the terminal."""

from __future__ import annotations

import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal

from specviz.analysis.cost.interval import Interval

# numbers


def digits(value: float | None) -> str | None:
    """Three significant digits, without exponent: 0.637, 4.10, 41.3, 1,240."""
    if value is None:
        return None
    rounded = float(f"{value:.3g}")  # 9.996 has one digit before the point, 10.0 has two
    if rounded >= 100:
        return f"{value:,.0f}"
    if rounded >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if rounded >= 1 else f"{value:.3f}"


def probability_text(value: float | None) -> str | None:
    """Three decimals: 0.637; smaller but not 0: <0.001."""
    if value is None:
        return None
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def counted(number: int, noun: str, several: str | None = None) -> str:
    """`1 arm`, `6 arms`, `1,240 requests`; `several` where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def percent(share: float, decimals: int = 0) -> str:
    """`58 %` of 0.58; `58.3 %` with a decimal."""
    return f"{100 * share:.{decimals}f} %"


def percent_with(share: Interval) -> str:
    """`58 %`, or `52 to 63 % (58 %)`: the interval first."""
    text = percent(share.value)
    if share.low is None or share.high is None:
        return text
    return f"{100 * share.low:.0f} to {100 * share.high:.0f} % ({text})"


# durations and sizes


def duration(seconds: float) -> str:
    """The two largest units: `45 s`, `3 min 20 s`, `2 h 5 min`. A negative time is 0 s."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def unit_of(largest: int) -> tuple[str, int]:
    """The largest unit that `largest` bytes fill at least once, and the unit's bytes."""
    power = 0
    while power + 1 < len(UNITS) and largest >= 1024 ** (power + 1):
        power += 1
    return UNITS[power], 1024**power


def size_text(count: int) -> str:
    """Three significant digits and a binary unit: 512 B, 1.50 KiB, 12.4 MiB."""
    unit, size = unit_of(count)
    return f"{count} B" if size == 1 else f"{digits(count / size)} {unit}"


# dollars


def dollars(value: float | None) -> str | None:
    """Three significant digits, half up, without exponent: $0.00408, $41.2, $1,240, -$12.5."""
    if value is None:
        return None
    size = Decimal(repr(float(abs(value))))  # 0.004075 as it is written, not as it is stored
    decimals = 0 if not size else max(0, 2 - size.adjusted())
    rounded = size.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    if rounded.adjusted() > size.adjusted() and decimals:  # 9.996 became 10.00
        rounded = rounded.quantize(Decimal(1).scaleb(1 - decimals))
    return f"{'-' if value < 0 and rounded else ''}${rounded:,f}"


def dollars_with(figure: Interval | None) -> str | None:
    """`$0.00160 to $0.00182 ($0.00170)`; the figure alone where it has no interval."""
    if figure is None or figure.low is None or figure.high is None:
        return None if figure is None else dollars(figure.value)
    return f"{dollars(figure.low)} to {dollars(figure.high)} ({dollars(figure.value)})"


# text of models, files and errors

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_SPELLED = str.maketrans({"\n": "⏎", "\t": "⇥", " ": "␣"})


def visible_text(text: str) -> str:
    """Spaces, line ends, control characters and bidirectional marks shown as visible signs.

    The token strip's `visibleText` (strip/js/text.js) writes the same.
    """
    shown = _CONTROL.sub(_symbol, text).translate(_SPELLED)
    return _INVISIBLE.sub(_code_point, shown)


def terminal_text(text: str) -> str:
    """Safe in a terminal or a sentence: as `visible_text`, but spaces remain spaces."""
    return " ".join(visible_text(word) for word in text.split(" "))


def token_name(text: str | None) -> str:
    """A token's visible text; `?` where it is not reported, `·` for part of a character."""
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
