"""A policy's rows and columns in words."""

from __future__ import annotations

from specviz.policy.policy import Policy, Row


def row_words(row: Row) -> str:
    """Which requests a row is for: `temperature ≤ 0.7, code`."""
    words = []
    if row.temperature is not None:
        words.append(f"temperature ≤ {row.temperature:g}")
    if row.top_p is not None:
        words.append(f"top-p ≤ {row.top_p:g}")
    if row.category is not None:
        words.append(row.category)
    return ", ".join(words) or "any request"


def column_words(policy: Policy, column: int) -> str:
    """Which load a column is for: `5 to 16 running`."""
    ends = policy.requests_running
    first = ends[column - 1] + 1 if column else 1
    if column == len(ends) - 1:
        return f"{first} or more running" if column else "any load"
    return f"{first} to {ends[column]} running" if first < ends[column] else f"{first} running"
