"""What a plan says of traffic, as results need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """Traffic: its name, the titles of its `phases` in order, and how many requests each pass of
    it has, by round id."""

    name: str
    phases: tuple[str, ...]
    requests: Mapping[str, int]
