"""How many examples a property takes."""

from __future__ import annotations

from hypothesis import settings


def share(part: float) -> settings:
    """Of the profile's examples, where one is expensive."""
    return settings(max_examples=max(1, round(part * settings().max_examples)))
