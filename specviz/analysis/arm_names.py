"""Short names of arms and runs, distinguished by the first thing in which they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from specviz.config import RunConfig


def arm_names(
    configs: Sequence[RunConfig], servers: Sequence[str | None] | None = None
) -> list[str]:
    """The arms' titles; equal ones get what differs (engine, dtype), and at last a number.

    `servers`: the name of each arm's server, which then comes first; None where it has none.
    """
    named = servers or [None] * len(configs)
    return distinguished(
        [
            _on(server, config) if server else config.title
            for config, server in zip(configs, named, strict=True)
        ],
        [(config.engine.value, config.options.get("dtype", "")) for config in configs],
    )


def _on(server: str, config: RunConfig) -> str:
    return f"{server} · {config.title}" if config.method else server


def distinguished(titles: Sequence[str], details: Sequence[Sequence[str]]) -> list[str]:
    """The titles; equal ones get those details that distinguish some of them.

    `details` are equally many for each title, most distinctive first. What is equal in all of them
    is numbered.
    """
    names = list(titles)
    for words in zip(*details, strict=True):
        groups: dict[str, set[str]] = {}
        for name, word in zip(names, words, strict=True):
            groups.setdefault(name, set()).add(word)
        names = [
            f"{name} · {word}" if word and len(groups[name]) > 1 else name
            for name, word in zip(names, words, strict=True)
        ]
    total, seen = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if total[name] > 1 else name)
    return numbered
