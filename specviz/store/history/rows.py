"""What the history of a store is made of, as frozen data: items, filters, choices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

IN_THE_APP = "in the app"
"""Stands for a server where the embedded engine answered."""


class Kind(StrEnum):
    """What stands on one line of the history."""

    RUN = "run"
    BENCHMARK = "benchmark"
    ELSEWHERE = "elsewhere"  # measured by another tool


class Order(StrEnum):
    """Which line comes first; lines without the figure come last."""

    NEWEST = "newest"
    OLDEST = "oldest"
    NAME = "name"
    REQUESTS = "requests"
    ACCEPTANCE = "acceptance"
    TOKENS_PER_STEP = "tok/step"
    TOKENS_PER_S = "tok/s"


@dataclass(frozen=True, slots=True)
class Item:
    """One line's identity: what it is and its id in its table."""

    kind: Kind
    item_id: str


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run, benchmark or result measured elsewhere.

    `name` is what a person called it, None where nobody did; `title` what it is. `started_at` is
    None where another tool's file does not tell. Methods, models, servers, categories and
    fidelities are those of all its requests, in alphabetical order. `num_runs`: runs of a
    benchmark, 1 for a run, 0 elsewhere. `acceptance_rate`: accepted / draft tokens of all
    requests, `tokens_per_step` likewise, `tokens_per_s`: of one stream, not of the server; all
    three are None for a benchmark, whose arms differ.
    """

    item: Item
    group_id: str
    name: str | None
    title: str
    started_at: datetime | None
    status: str | None
    methods: tuple[str, ...]
    models: tuple[str, ...]
    servers: tuple[str, ...]
    categories: tuple[str, ...]
    fidelities: tuple[str, ...]
    tags: tuple[str, ...]
    note: str | None
    prompt_start: str | None
    num_requests: int
    num_runs: int
    acceptance_rate: float | None
    tokens_per_step: float | None
    tokens_per_s: float | None
    imported_at: datetime | None
    deleted_at: datetime | None

    @property
    def label(self) -> str:
        """What it is called in a list."""
        return self.name or self.title


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which lines are wanted. An empty tuple lets everything through; of several values one is
    enough. `text` is looked for in names, notes, tags, methods and prompts, in any case of letters.
    Times have a zone; a line is within them by its start, or where that is not told its import."""

    kinds: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    fidelities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """One page of lines, and how many there are on all pages."""

    rows: tuple[HistoryRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Choices:
    """What each filter can be set to, in alphabetical order; tags are those of deleted lines too,
    since they are offered where lines are tagged."""

    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    fidelities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class About:
    """What the database knows of a run beyond its configuration.

    `benchmark_id` is None for a run that is not part of a benchmark; `num_together` counts the
    runs of its group. Deleted with its benchmark counts as deleted.
    """

    run_id: str
    name: str | None
    note: str | None
    tags: tuple[str, ...]
    deleted_at: datetime | None
    imported_at: datetime | None
    specviz_version: str
    benchmark_id: str | None
    num_together: int

    @property
    def item(self) -> Item:
        """What is deleted and brought back: a benchmark as a whole."""
        if self.benchmark_id:
            return Item(Kind.BENCHMARK, self.benchmark_id)
        return Item(Kind.RUN, self.run_id)
