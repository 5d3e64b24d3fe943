"""How often which reason decided: counted in the engine's process, shown on `/metrics` of the API
server's.

`specviz_policy_decisions_total{reason="policy: temperature ≤ 0.7, 5 to 16 running"}` counts one
request in one step. Every engine writes its counts to a file of its own in the server's private
folder, so a scrape adds them up. Where vLLM runs several API servers, each with its own metrics
(`--api-server-count`), Prometheus' multiprocess mode shows no counter of a plugin.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

METRIC = "specviz_policy_decisions"
HELP = "Decisions on K: one per request and step, by the reason that decided."
WRITE_EVERY_S = 0.1


class CountsFile:
    """The counts of one engine, written by a thread of its own soon after they change."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"decisions.{os.getpid()}.json"
        self._counts: Counter[str] = Counter()
        self._changed = threading.Event()
        threading.Thread(target=self._run, name="specviz-decisions", daemon=True).start()

    def add(self, reasons: Iterable[str]) -> None:
        """Count decisions."""
        self._counts.update(reasons)
        self._changed.set()

    def _run(self) -> None:
        while self._changed.wait():
            self._changed.clear()
            try:
                write(self._path, dict(self._counts))
            except OSError:
                return  # without its folder a server has no traces either, and its log says so
            time.sleep(WRITE_EVERY_S)


def write(path: Path, counts: dict[str, int]) -> None:
    """Whole or not at all."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(counts), encoding="utf-8")
    fresh.replace(path)


def read(folder: Path) -> Counter[str]:
    """The counts of all engines of the server."""
    counts: Counter[str] = Counter()
    for path in folder.glob("decisions.*.json"):
        counts.update(json.loads(path.read_text(encoding="utf-8")))
    return counts


class DecisionsCollector:
    """What prometheus_client asks at every scrape."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily

        family = CounterMetricFamily(METRIC, HELP, labels=["reason"])
        for reason, count in sorted(read(self._folder).items()):
            family.add_metric([reason], count)
        yield family


def show_on_metrics(folder: Path) -> None:
    """Add the counter to this process's `/metrics`. May be called repeatedly."""
    from prometheus_client import REGISTRY

    if not any(isinstance(known, DecisionsCollector) for known in REGISTRY._collector_to_names):
        REGISTRY.register(DecisionsCollector(folder))
