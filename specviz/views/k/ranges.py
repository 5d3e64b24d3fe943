"""Ks as text."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.analysis.k.optimum import Optimum
from specviz.analysis.verdict import Verdict


def k_text(found: Optimum) -> str:
    """The K to use, `off` where it is slower, `undecided` where nobody knows."""
    if found.verdict is Verdict.UNDECIDED:
        return "undecided"
    return str(found.best.k) if found.is_worth_it else "off"


def equivalent_text(found: Optimum) -> str | None:
    """`K 3–10 are equivalent here; 3 is cheapest`; None for a single one, or without noise."""
    if found.low is None or len(found.plateau) < 2:
        return None
    return f"K {ranges_text(found.plateau)} are equivalent here; {found.best.k} is cheapest"


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
