"""One line of the history: what it stands for, its figures, and the SQL that makes its row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from specviz.config import EngineKind, RunConfig
from specviz.methods import Method
from specviz.store.runs.runs import PROMPT_START_CHARS

IN_THE_APP = "in the app"
"""In place of a server's address where the embedded engine answered."""


class Kind(StrEnum):
    """What a line of the history is. Groups and prompts are stored as their runs only."""

    RUN = "run"
    GROUP = "group"  # runs that were started together
    PROMPT = "prompt"  # runs that answered the same prompt
    BENCHMARK = "benchmark"
    TOOL_RESULT = "elsewhere"  # what another tool measured


@dataclass(frozen=True, slots=True)
class Item:
    """Identifies a line: its kind and its id in the table of that kind. The id of a group is
    `group_id` of its runs, that of a prompt its `prompt_key`."""

    kind: Kind
    item_id: str


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run, group of runs, prompt, benchmark or result of another tool.

    `name` was given by a person, else None; `title` describes it. `started_at` is None where
    another tool's file has none, that of a group is its first run's, of a prompt its newest run's.
    `status`: all that its runs have. Methods, models, servers, categories, fidelities and tags are
    those of all its runs, in alphabetical order. `num_runs`: 0 for other tools. `run_ids`: the runs
    that the line stands for, in the order they were started; none for a benchmark.
    `draft_acceptance_rate`: accepted / draft tokens of all requests, `tokens_per_step` likewise,
    `output_throughput`: of one stream, not of the server. Of several runs, the highest of each; all
    three are None for a benchmark, whose cells differ in more than the arm.
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
    run_ids: tuple[str, ...]
    draft_acceptance_rate: float | None
    tokens_per_step: float | None
    output_throughput: float | None
    imported_at: datetime | None
    deleted_at: datetime | None

    @property
    def label(self) -> str:
        """Its name in a list."""
        return self.name or self.title

    @property
    def items(self) -> tuple[Item, ...]:
        """What is stored of it: what is named, tagged, deleted, exported."""
        if self.item.kind in (Kind.GROUP, Kind.PROMPT):
            return tuple(Item(Kind.RUN, run_id) for run_id in self.run_ids)
        return (self.item,)


LISTS = ("methods", "models", "servers", "categories", "fidelities")
"""Columns that hold every value of a line's runs, in alphabetical order."""

SERVER = f"CASE WHEN engine = 'embedded' THEN '{IN_THE_APP}' ELSE server_url END"
"""SQL: where a run was answered."""


def distinct(value: str) -> str:
    """SQL: the different values of a group without the missing ones."""
    return f"list_sort(list(DISTINCT {value}) FILTER ({value} IS NOT NULL))"


def as_list(value: str) -> str:
    """SQL: a list of the value, empty where it is missing."""
    return f"CASE WHEN {value} IS NULL THEN []::VARCHAR[] ELSE [{value}] END"


def merged(lists: str) -> str:
    """SQL: the different values in the lists of a group."""
    return f"list_sort(list_distinct(flatten(list(coalesce({lists}, [])))))"


FIGURES = f"""
    count(*) AS num_requests, {distinct("category")} AS categories,
    {distinct("fidelity")} AS fidelities,
    arg_min(left(prompt, {PROMPT_START_CHARS}), started_at) AS prompt_start,
    sum(num_accepted_tokens) / nullif(sum(num_draft_tokens), 0) AS draft_acceptance_rate,
    sum(output_tokens) / nullif(
        sum(num_steps) FILTER (output_tokens IS NOT NULL), 0) AS tokens_per_step,
    sum(output_tokens) * 1000 / nullif(
        sum(e2el_ms) FILTER (output_tokens IS NOT NULL), 0) AS output_throughput
"""
"""SQL: columns of some requests of one run."""

_AS_STARTED = "ORDER BY started_at, run_id"

LINE_OF_RUNS = f"""
    first(name {_AS_STARTED}) FILTER (name IS NOT NULL) AS name,
    string_agg(DISTINCT name, chr(10)) AS names, first(method {_AS_STARTED}) AS method,
    list(struct_pack(method, k, options) {_AS_STARTED}) AS arms,
    min(started_at) AS started_at, min(started_at) AS placed_at,
    {distinct("status")} AS statuses, {distinct("method")} AS methods,
    {distinct("model")} AS models, {distinct(SERVER)} AS servers,
    {merged("categories")} AS categories, {merged("fidelities")} AS fidelities,
    {merged("tags")} AS tags, string_agg(DISTINCT note, chr(10) ORDER BY note) AS note,
    first(prompt_start {_AS_STARTED}) FILTER (prompt_start IS NOT NULL) AS prompt_start,
    sum(num_requests) AS num_requests, count(*) AS num_runs, list(run_id {_AS_STARTED}) AS run_ids,
    max(draft_acceptance_rate) AS draft_acceptance_rate,
    max(tokens_per_step) AS tokens_per_step, max(output_throughput) AS output_throughput,
    max(imported_at) AS imported_at, max(deleted_at) AS deleted_at
"""
"""SQL: columns of a line that stands for rows of runs, each with its `FIGURES`."""


def history_row(row: Mapping[str, Any]) -> HistoryRow:
    """A line from its row of `items`."""
    derived = {
        "item": Item(Kind(row["kind"]), row["item_id"]),
        "title": _title(row),
        "status": ", ".join(row["statuses"] or ()) or None,
        "num_requests": int(row["num_requests"] or 0),
        "num_runs": row["num_runs"] or 0,
        "run_ids": tuple(row["run_ids"] or ()),
    }
    values = {**shown(row), **derived}
    return HistoryRow(**{field.name: values[field.name] for field in fields(HistoryRow)})


def shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its times in UTC and its lists as tuples, empty ones where they are missing."""
    moments = {name: at.replace(tzinfo=UTC) for name, at in row.items() if isinstance(at, datetime)}
    lists = {name: tuple(row[name] or ()) for name in (*LISTS, "tags") if name in row}
    return {**row, **moments, **lists}


def _title(row: Mapping[str, Any]) -> str:
    if row["kind"] == Kind.BENCHMARK:
        return f"benchmark of {row['num_runs'] or 0} runs"
    if row["kind"] == Kind.TOOL_RESULT:
        return " · ".join(filter(None, [row["tool"], row["method"], row["k"] and f"K {row['k']}"]))
    return ", ".join(dict.fromkeys(map(_arm_title, row["arms"])))


def _arm_title(arm: Mapping[str, Any]) -> str:
    method = Method(arm["method"]) if arm["method"] else None
    options = json.loads(arm["options"])
    return RunConfig(EngineKind.EMBEDDED, method, arm["k"], options=options).title
