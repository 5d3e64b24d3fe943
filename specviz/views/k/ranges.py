"""Ranges of K as text."""

from __future__ import annotations

from collections.abc import Sequence


def ranges_text(ks: Sequence[int]) -> str | None:
    """`5–8, 10`; None for none."""
    runs: list[list[int]] = []
    for k in ks:
        if runs and runs[-1][-1] == k - 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    parts = [f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return ", ".join(parts) or None
