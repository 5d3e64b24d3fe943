"""One name per arm, told apart where two arms have the same title."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from specviz.config import RunConfig


def arm_names(configs: Sequence[RunConfig]) -> list[str]:
    """The arms' titles; equal ones get what differs (engine, dtype), and at last a number."""
    names = [config.title for config in configs]
    names = _told_apart(names, [config.engine.value for config in configs])
    names = _told_apart(names, [config.options.get("dtype", "") for config in configs])
    return _numbered(names)


def _told_apart(names: Sequence[str], words: Sequence[str]) -> list[str]:
    """Add its word to every name that several arms have, if their words differ."""
    words_of: dict[str, set[str]] = {}
    for name, word in zip(names, words, strict=True):
        words_of.setdefault(name, set()).add(word)
    return [
        f"{name} · {word}" if word and len(words_of[name]) > 1 else name
        for name, word in zip(names, words, strict=True)
    ]


def _numbered(names: Sequence[str]) -> list[str]:
    total, seen = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if total[name] > 1 else name)
    return numbered
