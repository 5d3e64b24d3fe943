"""Durations as people read them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """The two largest units: `45 s`, `3 min 20 s`, `2 h 5 min`. A negative time is 0 s."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
