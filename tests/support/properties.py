"""How many examples a property takes."""

from __future__ import annotations

from hypothesis import settings


def share(part: float) -> settings:
    """A share of the profile's examples, for a property whose examples are expensive."""
    return settings(max_examples=max(1, round(part * settings().max_examples)))
