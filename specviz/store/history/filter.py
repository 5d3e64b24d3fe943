"""Which lines of the history are wanted: the filters of the Runs page, and what each offers."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.store.history.line import LISTS, SERVER
from specviz.store.runs.tables import to_utc


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which lines to list. An empty tuple matches everything; of several values one is enough.
    `text` is searched in names, notes, tags, methods and prompts, ignoring case. Of a group it is
    enough if one of its runs has it. Times have a zone; a line is within them by its start, or by
    its import if the start is unknown. `prompt_key`: only runs that answered this prompt."""

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
    prompt_key: str = ""
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Choices:
    """What each filter can be set to, in alphabetical order. Tags include those of deleted lines,
    because they are also offered for tagging."""

    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    fidelities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()


PROMPT_KEY = "md5(prompt)"
"""SQL: what identifies a prompt in an address."""

CONTAINS_TEXT = "contains(lower({}), lower($text))"
"""SQL: whether a column contains `HistoryFilter.text`."""

_KIND = "if(kind = 'group', 'run', kind)"  # a group is found as what it is made of
_CHOICES = {
    "methods": "SELECT method FROM runs UNION SELECT method FROM elsewhere",
    "models": "SELECT model FROM runs UNION SELECT model FROM elsewhere",
    "servers": f"SELECT {SERVER} FROM runs UNION SELECT server FROM elsewhere",
    "categories": "SELECT DISTINCT category FROM requests",
    "tags": "SELECT unnest(tags) FROM runs UNION SELECT unnest(tags) FROM benchmarks "
    "UNION SELECT unnest(tags) FROM elsewhere",
    "fidelities": "SELECT DISTINCT fidelity FROM requests",
    "statuses": "SELECT status FROM runs UNION SELECT status FROM benchmarks",
}


def read_choices(cursor: DuckDBPyConnection) -> Choices:
    """What each filter can be set to."""
    return Choices(**{name: _values(cursor, sql) for name, sql in _CHOICES.items()})


def conditions(wanted: HistoryFilter) -> tuple[str, dict[str, Any]]:
    """The WHERE clause and the values it names."""
    where = [is_deleted_sql(wanted.deleted)]
    values: dict[str, Any] = {}
    for name in (*LISTS, "tags", "statuses"):
        if chosen := getattr(wanted, name):
            where.append(f"list_has_any(coalesce({name}, []), ${name})")
            values[name] = list(chosen)
    if wanted.kinds:
        where.append(f"list_contains($kinds, {_KIND})")
        values["kinds"] = list(wanted.kinds)
    for name, sign in (("since", ">="), ("until", "<")):
        if (moment := getattr(wanted, name)) is not None:
            where.append(f"placed_at {sign} ${name}")
            values[name] = to_utc(moment)
    if text := wanted.text.strip():
        searched = ["names", "note", "array_to_string(tags, ' ')", "array_to_string(methods, ' ')"]
        found = [f"coalesce({CONTAINS_TEXT.format(column)}, false)" for column in searched]
        where.append(f"({' OR '.join(found)} OR coalesce(prompt_matches, false))")
        values["text"] = text
    if wanted.prompt_key:
        where.append("coalesce(is_of_prompt, false)")
        values["prompt_key"] = wanted.prompt_key
    return " AND ".join(where), values


def asks_requests(values: Container[str]) -> bool:
    """Whether a filter with these values cannot be answered without reading requests."""
    return any(name in values for name in ("categories", "fidelities", "text", "prompt_key"))


def is_deleted_sql(is_deleted: bool) -> str:
    """The condition for lines that were deleted, or were not."""
    return f"deleted_at IS {'NOT ' if is_deleted else ''}NULL"


def _values(cursor: DuckDBPyConnection, sql: str) -> tuple[str, ...]:
    return tuple(sorted(row[0] for row in cursor.execute(sql).fetchall() if row[0] is not None))
