"""The questions that ship: they run everywhere, and answer right where one can tell by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from duckdb import DuckDBPyConnection

from specviz.analysis.plot_choice import PlotKind, fits, plot_columns
from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.sql.question_filter import QuestionFilter, filtered_sql
from specviz.store.sql.questions import Question, answer_of, question, question_groups
from specviz.store.sql.sandbox import run_sql
from tests.support.sql.made_answers import fill
from tests.support.store.made import made

ALL = [one for group in question_groups() for one in group.questions]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(made(tmp_path_factory.mktemp("questions") / "runs.duckdb")) as opened:
        fill(opened)
        yield opened


def answered(store: Store, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and rows as the database gives them, without the process in which users' SQL runs."""

    def read(cursor: DuckDBPyConnection) -> tuple[list[str], list[tuple[Any, ...]]]:
        found = cursor.execute(sql)
        return [column[0] for column in found.description], found.fetchall()

    return store.read(read)


def rows(store: Store, name: str, *columns: str) -> list[tuple[object, ...]]:
    """The answer's columns of these names."""
    names, found = answered(store, question(name).sql)
    return [tuple(row[names.index(column)] for column in columns) for row in found]


def reported(store: Store, name: str) -> str:
    one = question(name)
    return answer_of(one, *answered(store, one.sql))


def test_there_are_enough_and_each_is_explained() -> None:
    assert len(ALL) >= 18
    assert len({one.question_id for one in ALL}) == len({one.asks for one in ALL}) == len(ALL)
    for one in ALL:
        assert one.asks.endswith("?") and one.says.endswith(".") and one.no_rows.endswith(".")
        assert "deleted_at" in one.sql


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.question_id)
def test_every_question_runs_on_an_empty_store(shared_store: Store, one: Question) -> None:
    names, found = answered(shared_store, one.sql)
    assert found == []
    assert answer_of(one, names, found) == ""


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.question_id)
def test_every_question_has_an_answer_and_a_plot_of_its_columns(
    filled: Store, one: Question
) -> None:
    result = run_sql(filled, one.sql)
    assert result.rows and not result.truncated
    names = [column.name for column in result.columns]
    assert len(set(names)) == len(names)
    columns = plot_columns(names, [column.type for column in result.columns], result.rows)
    assert one.plot.kind is PlotKind.TABLE or fits(one.plot, columns)
    assert bool(answer_of(one, names, result.rows)) == bool(one.answer)
    if one.question_id != "room":  # which shows deleted runs as such
        assert "poetry" not in str(result.rows) and "'deleted'" not in str(result.rows)


def test_which_category_rejects_most_and_where(filled: Store) -> None:
    found = rows(filled, "category-position", "category", "position", "ended here, % of drafts")
    assert found[0] == ("typed prompt", 1, 75.0)  # three of the four steps that drafted
    assert ("qa", 1, 50.0) in found and ("qa", 2, 10.0) in found and ("qa", 3, 30.0) in found
    assert ("code", 1, 20.0) in found and ("code", 2, 30.0) in found and ("code", 3, 0.0) in found
    conditional = rows(filled, "category-position", "category", "position",
                       "of those that got here, %", "drafts that got here")  # fmt: skip
    assert ("qa", 3, 75.0, 4) in conditional
    assert reported(filled, "category-position") == (
        "Most: typed prompt at position 1: 75.0 % of 4 drafts end there."
    )


def test_which_tokens_are_rejected_most(filled: Store) -> None:
    found = rows(filled, "rejected-tokens", "token", "rejected", "rejected, % of judged",
                 "target's probability, %", "draft's probability, %")  # fmt: skip
    assert found == [("the", 2, 66.7, 33.0, 75.5), ("a␣b", 1, 100.0, 11.0, 95.0)]
    by = rows(filled, "rejected-by-probability", "target from, %", "draft from, %",
              "rejected, % of judged", "judged tokens")  # fmt: skip
    assert by == [(10, 90, 100.0, 2), (50, 50, 100.0, 1), (90, 90, 0.0, 1)]
    assert [row[0] for row in rows(filled, "near-misses", "token")] == ["the"]


def test_where_the_draft_is_too_sure(filled: Store) -> None:
    found = rows(filled, "calibration", "draft from, %", "gap, % points", "judged tokens")
    assert found == [(50, 1.0, 1), (90, 57.3, 3)]


def test_after_a_line_end_and_inside_code(filled: Store) -> None:
    found = rows(filled, "newline-code", "begins", "where", "first token accepted, %", "steps")
    assert found == [
        ("after a line end", "outside code", 0.0, 1),
        ("after a space", "inside code", 0.0, 1),
        ("elsewhere", "inside code", 100.0, 1),
        ("elsewhere", "outside code", 0.0, 1),
    ]


def test_what_a_smaller_k_would_lose(filled: Store) -> None:
    found = rows(filled, "smaller-k", "arm", "smaller K", "steps that lose nothing, %",
                 "length then, tok/step", "length now, tok/step",
                 "draft tokens saved per step")  # fmt: skip
    assert found[-2:] == [
        ("eagle3 · K 3", 1, 55.0, 1.65, 2.4, 2),
        ("eagle3 · K 3", 2, 70.0, 2.1, 2.4, 1),
    ]


def test_wasted_draft_tokens(filled: Store) -> None:
    found = rows(filled, "wasted-drafts", "run_id", "wasted draft tokens", "wasted, %",
                 "wasted per output token")  # fmt: skip
    assert found[0] == ("eagle", 32, 53.3, 0.16)
    assert {row[0] for row in found} == {"eagle", "traced"}


def test_cost_is_the_price_over_the_throughput_of_blocks(filled: Store) -> None:
    found = rows(filled, "cost-method", "arm", "throughput, tok/s", "$ per million tokens")
    assert found == [  # 200 tokens in 2 s: both in one block; 3.26 / 3600 / 100 * 10^6
        ("baseline · vllm", 100.0, 9.056),
        ("eagle3 · K 3 · vllm", 100.0, 9.056),
    ]


def test_speed_up_by_category(filled: Store) -> None:
    found = rows(filled, "speedup-category", "arm", "category", "speed-up, ×")
    assert found == [("eagle3 · K 3", "qa", 1.01), ("eagle3 · K 3", "code", 2.0)]
    assert reported(filled, "speedup-category") == "Least: eagle3 · K 3 in qa: 1.01 ×."


def test_where_an_answer_differs_first(filled: Store) -> None:
    found = rows(filled, "divergence", "category", "first differs at, character", "run_id")
    assert found == [("qa", 29, "eagle")]


def test_memory_and_room(filled: Store) -> None:
    assert rows(filled, "memory-method", "arm", "together, MiB") == [("draft_model · K 2", 3.0)]
    found = rows(filled, "room", "run_id", "draft token rows", "deleted")
    assert found[0] == ("traced", 5, False) and ("deleted", None, True) in found


def test_p95_and_failures(filled: Store) -> None:
    found = rows(filled, "p95-concurrency", "arm", "P95 E2E, ms", "requests")
    assert found == [("baseline · vllm", 2000.0, 2), ("eagle3 · K 3 · vllm", 1940.5, 2)]
    assert rows(filled, "failures", "reason", "requests") == [("<b>no answer</b>", 1)]
    assert rows(filled, "unfinished", "reason", "run_id") == [("the server went away", "failed")]


def test_an_unknown_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no question 'x'"):
        question("x")


METHODS, CATEGORIES = ("baseline", "eagle3", "draft_model"), ("qa", "code")
HOSTILE = QuestionFilter(
    ("'; DROP TABLE runs; --",), ('"',), ("' OR 1 = 1 --",), date(2026, 1, 1), 3
)
ALL_AT_ONCE = QuestionFilter(METHODS, ("m", "n"), CATEGORIES, date(2000, 1, 1), 1)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.question_id)
def test_a_filter_leaves_rows_of_the_same_columns(filled: Store, one: Question) -> None:
    assert filtered_sql(one, QuestionFilter()) == one.sql
    whole = answered(filled, one.sql)
    names, found = answered(filled, filtered_sql(one, HOSTILE))
    assert (names, found) == (whole[0], [])
    assert answered(filled, filtered_sql(one, ALL_AT_ONCE))[0] == whole[0]
    assert answered(filled, filtered_sql(one, QuestionFilter(since=date(2100, 1, 1))))[1] == []
    assert answered(filled, filtered_sql(one, QuestionFilter(since=date(2000, 1, 1)))) == whole


@pytest.mark.parametrize("one", [one for one in ALL if one.sample], ids=lambda one: one.question_id)
def test_the_smallest_sample_keeps_the_rows_that_have_it(filled: Store, one: Question) -> None:
    names, whole = answered(filled, one.sql)
    place = names.index(one.sample)
    counts = sorted({row[place] for row in whole if row[place] is not None})
    for at_least in (counts[-1], counts[-1] + 1):
        _, found = answered(filled, filtered_sql(one, QuestionFilter(at_least=int(at_least))))
        assert found == [row for row in whole if (row[place] or 0) >= at_least]


def test_a_filter_by_method_leaves_the_baseline_that_is_compared_with(filled: Store) -> None:
    one = question("speedup-category")
    whole = answered(filled, one.sql)
    assert answered(filled, filtered_sql(one, QuestionFilter(methods=("eagle3",)))) == whole
    assert answered(filled, filtered_sql(one, QuestionFilter(methods=("ngram",))))[1] == []


def test_one_category_of_one_method(filled: Store) -> None:
    one = question("category-method")
    wanted = QuestionFilter(methods=("eagle3",), categories=("qa",))
    _, found = answered(filled, filtered_sql(one, wanted))
    _, whole = answered(filled, one.sql)
    assert found == [row for row in whole if row[:2] == ("eagle3", "qa")] and found
