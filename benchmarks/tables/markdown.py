"""How figures, their spread and their source are written in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import Any

Figures = dict[str, Any]


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def source(figures: Figures) -> str:
    """When, where and how the figures were measured."""
    prompts = f", {figures['prompts']} prompts" if figures["prompts"] else ""
    features = "".join(f", {name}" for name in figures.get("cpu_features", []))
    when = "committed" if "metadata" in figures else "revision"  # early files name their commit
    return (
        f"Measured on {figures['hardware']}{features}{prompts}: `{figures['command']}` "
        f"({figures['date'][:10]}, {when} `{figures['git_revision']}`)."
    )


def with_source(figures: Figures, *parts: str) -> str:
    return "\n\n".join([*parts, source(figures)])


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def speedup(row: Mapping[str, Any]) -> str:
    """`1.86× (1.67 to 2.04)`."""
    if row["speedup"] is None:
        return "–"
    if row["low"] is None:
        return f"{row['speedup']:.2f}×"
    return f"{row['speedup']:.2f}× ({row['low']:.2f} to {row['high']:.2f})"


def spread(values: Sequence[float], digits: int = 2) -> str:
    """`1.07 (0.98 to 1.15)`: median and range."""
    low, high = min(values), max(values)
    return f"{median(values):,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def not_measured(name: str) -> str:
    return f"Not measured yet: benchmarks/results/{name}.json is missing."
