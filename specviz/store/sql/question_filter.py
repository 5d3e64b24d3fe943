"""A shipped question asked of some runs only, and of groups that are large enough.

The filters stand before the question, as WITH names in place of the tables it reads, and the
smallest sample around it: what is shown in the editor is what runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from specviz.methods import Method
from specviz.store.quoting import identifier, literal
from specviz.store.sql.questions import Question

_WITH, _ORDER = "WITH ", "\nORDER BY "


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """An empty tuple is everything; of several values one is enough. `since`: runs that were
    started on this day, UTC, or later. `at_least` is counted in the question's `sample`."""

    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    since: date | None = None
    at_least: int = 0


def has_categories(asked: Question) -> bool:
    """Whether it reads requests, which have a category; some questions read runs only."""
    return "requests" in asked.sql


def filtered_sql(asked: Question, wanted: QuestionFilter) -> str:
    """The question with the filter in it; its values are literals, not parameters."""
    sql = asked.sql
    if wanted.at_least and asked.sample:
        body, order, last = sql.rpartition(_ORDER)
        large = f"{identifier(asked.sample)} >= {wanted.at_least}"
        sql = f"SELECT * FROM (\n{body}\n)\nWHERE {large}{order}{last}"
    tables = {
        "runs": _of_runs(asked, wanted),
        "requests": [_among("category", wanted.categories)] if wanted.categories else [],
    }
    names = ",\n".join(
        f"{name} AS NOT MATERIALIZED (\n    FROM main.{name} WHERE {' AND '.join(conditions)}\n)"
        for name, conditions in tables.items()
        if conditions
    )
    if not names:
        return sql
    own = sql.removeprefix(_WITH)
    return f"{_WITH}{names}\n{sql}" if own == sql else f"{_WITH}{names},\n{own}"


def _of_runs(asked: Question, wanted: QuestionFilter) -> list[str]:
    conditions = []
    if wanted.methods:
        plain = (Method.BASELINE.value,) if asked.against_baseline else ()
        conditions.append(_among("method", dict.fromkeys((*wanted.methods, *plain))))
    if wanted.models:
        conditions.append(_among("model", wanted.models))
    if wanted.since is not None:
        conditions.append(f"started_at >= DATE {literal(wanted.since.isoformat())}")
    return conditions


def _among(column: str, values: Iterable[str]) -> str:
    return f"{column} IN ({', '.join(map(literal, values))})"
