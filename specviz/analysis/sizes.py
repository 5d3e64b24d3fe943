"""Bytes as people read them."""

from __future__ import annotations

from specviz.analysis.digits import digits

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def unit_of(largest: int) -> tuple[str, int]:
    """The largest unit of which there is at least one in `largest` bytes, and its bytes."""
    power = 0
    while power + 1 < len(UNITS) and largest >= 1024 ** (power + 1):
        power += 1
    return UNITS[power], 1024**power


def size_text(count: int) -> str:
    """Three significant digits and a binary unit: 512 B, 1.50 KiB, 12.4 MiB."""
    unit, size = unit_of(count)
    return f"{count} B" if size == 1 else f"{digits(count / size)} {unit}"
