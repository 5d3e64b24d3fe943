"""The questions that ship: SQL that answers them, and what the answer means. `data/questions/`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from specviz.analysis.plot_choice import Plot, PlotKind
from specviz.errors import UsageError
from specviz.paths import DATA

QUESTIONS = DATA / "questions"

_BLANK = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Question:
    """`asks` is the question, `says` what the columns mean, `no_rows` what it takes to have any.

    `answer` is a sentence with {columns} of the first row in it; empty where one row says nothing.
    `sample` is the column that counts what a row rests on; empty where rows are single things.
    `against_baseline`: it compares with plain decoding, which a filter by method must leave in.
    """

    question_id: str
    asks: str
    says: str
    no_rows: str
    sql: str
    plot: Plot
    answer: str = ""
    sample: str = ""
    against_baseline: bool = False


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """Questions of one kind, in the order of their file."""

    title: str
    questions: tuple[Question, ...]


@cache
def question_groups() -> tuple[QuestionGroup, ...]:
    """All that ship, by file name."""
    files = sorted(QUESTIONS.glob("*.toml"))
    return tuple(_group(tomllib.loads(file.read_text(encoding="utf-8"))) for file in files)


def question(question_id: str) -> Question:
    """Raises UsageError if there is none."""
    for group in question_groups():
        for one in group.questions:
            if one.question_id == question_id:
                return one
    raise UsageError(f"There is no question {question_id!r}: choose one from the list.")


def answer_of(asked: Question, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The answer as a sentence from the first row; empty without one, or where a value is empty."""
    first = dict(zip(names, rows[0], strict=True)) if rows else {}
    if any(first.get(name) is None for name in _BLANK.findall(asked.answer)):
        return ""
    return _BLANK.sub(lambda blank: _shown(first[blank[1]]), asked.answer)


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _group(document: dict[str, Any]) -> QuestionGroup:
    return QuestionGroup(document["title"], tuple(_question(one) for one in document["question"]))


def _question(row: dict[str, Any]) -> Question:
    plot = row["plot"]
    return Question(
        question_id=row["id"],
        asks=row["asks"],
        says=row["says"].strip(),
        no_rows=row["no_rows"],
        sql=row["sql"].strip(),
        plot=Plot(PlotKind(plot["kind"]), *(plot.get(key) for key in ("x", "y", "value", "by"))),
        answer=row.get("answer", ""),
        sample=row.get("sample", ""),
        against_baseline=row.get("against_baseline", False),
    )
