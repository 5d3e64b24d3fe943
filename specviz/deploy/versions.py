"""Versions as people write them: 0.33, 0.33.1, v1.3.0rc25, b11549."""

from __future__ import annotations

import re

from specviz.errors import UsageError

_VERSION = re.compile(r"[vb]?(\d+(?:\.\d+)*)(?:[-.+]?(?:rc|post|dev|a|b)\d*\S*)?")


def numbers(version: str) -> tuple[int, ...]:
    """The release as numbers: (1, 3, 0) for 1.3.0rc25, (11549,) for b11549.

    Raises UsageError for what is not a version.
    """
    match = _VERSION.fullmatch(version.strip())
    if match is None:
        raise UsageError(f"{version!r} is not a version such as 0.33 or b11549.")
    return tuple(int(part) for part in match[1].split("."))


def is_of(version: str, series: str) -> bool:
    """Whether a version is that release or one of its series: 0.32.1 is of 0.32."""
    wanted = numbers(series)
    return _padded(version, len(wanted))[: len(wanted)] == wanted


def is_before(version: str, other: str) -> bool:
    """Whether a version comes before another."""
    digits = max(len(numbers(version)), len(numbers(other)))
    return _padded(version, digits) < _padded(other, digits)


def is_after_series(version: str, last: str) -> bool:
    """Whether a version comes after a release and all of its series: 0.33 after 0.32."""
    limit = numbers(last)
    return _padded(version, len(limit))[: len(limit)] > limit


def nearest(version: str, known: tuple[str, ...]) -> str:
    """The newest known version that is not after `version`; the oldest one if all are."""
    earlier = [one for one in known if not is_before(version, one)]
    return earlier[-1] if earlier else known[0]


def _padded(version: str, digits: int) -> tuple[int, ...]:
    found = numbers(version)
    return found + (0,) * (digits - len(found))
