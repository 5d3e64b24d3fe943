"""Names, notes, tags; deleting, bringing back, removing for good, and what is left of others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store import Store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.history import edits
from specviz.store.history.about import read_about
from specviz.store.history.filter import HistoryFilter
from specviz.store.history.history import read_history
from specviz.store.history.line import HistoryRow, Item, Kind
from specviz.store.runs.runs import read_run
from specviz.store.runs.tables import insert
from tests.support.store.history_samples import NOON, MadeLine, insert_benchmark, put, store_run
from tests.support.store.samples import frame_of, new_run, num_runs

RUN, BENCHMARK = Item(Kind.RUN, "run"), Item(Kind.BENCHMARK, "b")
ELSEWHERE = Item(Kind.TOOL_RESULT, "e")
HOSTILE = "<script>alert(1)</script> '; DROP TABLE runs; -- \x1b[2J \u202e $x$"
OF_BENCHMARK = ("samples", "rounds", "benchmark_prompts", "benchmark_arms", "k_replays",
                "k_step_times")  # fmt: skip


@pytest.fixture
def lines(store: Store) -> Store:
    """A run, a benchmark of two runs and a result from elsewhere."""
    store_run(store, "run")
    put(
        store,
        MadeLine(
            BENCHMARK, NOON, ("ngram", "eagle3"), ("m",), ("http://a:1",), name="B", prompts=("p",)
        ),
        MadeLine(ELSEWHERE, NOON, ("eagle",), ("m",), ("s",), name="E"),
    )
    return store


def line(store: Store, item: Item, *, deleted: bool = False) -> HistoryRow | None:
    rows = store.read(read_history, HistoryFilter(deleted=deleted)).rows
    return next((row for row in rows if row.item == item), None)


def counts(store: Store) -> dict[str, int]:
    tables = store.read(frame_of, "SELECT table_name FROM duckdb_tables() ORDER BY ALL")
    return {
        name: int(store.read(frame_of, f"SELECT count(*) AS n FROM {name}")["n"][0])
        for name in tables["table_name"]
    }


def fill_benchmark_tables(cursor: DuckDBPyConnection, benchmark_id: str) -> None:
    """One row in every table of a benchmark."""
    for table in OF_BENCHMARK:
        cursor.execute(f"SELECT * FROM {table} LIMIT 0")
        known = {"benchmark_id": benchmark_id, "run_id": f"{benchmark_id}-0",
                 "request_id": f"{benchmark_id}-0 0"}  # fmt: skip
        needed = cursor.execute(
            "SELECT column_name, data_type FROM duckdb_columns() "
            "WHERE table_name = ? AND (NOT is_nullable OR column_name IN ?)",
            [table, list(known)],
        ).fetchall()
        row = {name: known.get(name, _something(kind)) for name, kind in needed}
        insert(cursor, table, row)


def _something(kind: str) -> object:
    if kind.endswith("[]"):
        return []
    return {"VARCHAR": "x", "BOOLEAN": True}.get(kind, 1)


@pytest.mark.parametrize("item", [RUN, BENCHMARK, ELSEWHERE])
def test_name_note_and_tags_are_kept_as_written(lines: Store, item: Item) -> None:
    lines.write(edits.rename, item, f"  {HOSTILE} ")
    lines.write(edits.write_note, [item], f"{HOSTILE}\n\nsecond line\n")
    lines.write(edits.tag, [item], ["b ", "a", "a", " ", HOSTILE[:20]])
    row = line(lines, item)
    assert row is not None
    assert row.name == " ".join(HOSTILE.split())
    assert row.note == f"{HOSTILE}\n\nsecond line"
    assert row.tags == tuple(sorted(["a", "b", HOSTILE[:20]]))


def test_tags_are_added_to_and_taken_from_several(lines: Store) -> None:
    lines.write(edits.tag, [RUN], ["old", "own"])
    lines.write(edits.tag, [RUN, ELSEWHERE], ["new"], ["old"])
    found = [line(lines, item) for item in (RUN, ELSEWHERE, BENCHMARK)]
    assert [row and row.tags for row in found] == [("new", "own"), ("new",), ()]


def test_a_run_loses_its_name_but_a_benchmark_keeps_one(lines: Store) -> None:
    lines.write(edits.rename, RUN, "named")
    lines.write(edits.rename, RUN, " ")
    row = line(lines, RUN)
    assert row is not None and row.name is None and row.label == "draft_model · K 3"
    for item in (BENCHMARK, ELSEWHERE):
        with pytest.raises(UsageError, match="type one"):
            lines.write(edits.rename, item, "")


@pytest.mark.parametrize(
    "edit",
    [
        lambda cursor: edits.rename(cursor, RUN, "x" * 121),
        lambda cursor: edits.tag(cursor, [RUN], ["x" * 41]),
        lambda cursor: edits.write_note(cursor, [RUN], "x" * 20_001),
    ],
)
def test_what_is_too_long_is_refused(
    lines: Store, edit: Callable[[DuckDBPyConnection], None]
) -> None:
    with pytest.raises(UsageError, match="at most"):
        lines.write(edit)


def test_what_is_deleted_is_in_no_list_until_it_is_brought_back(lines: Store) -> None:
    before = lines.read(read_history).rows
    for item in (RUN, BENCHMARK, ELSEWHERE):
        lines.write(edits.delete, [item], NOON)
        gone = line(lines, item, deleted=True)
        assert line(lines, item) is None and gone is not None and gone.deleted_at == NOON
    assert lines.read(read_history).total == 0 and lines.read(read_benchmarks) == []
    assert lines.read(read_run, "run").run_id == "run"  # its address still opens it
    about = lines.read(read_about, ["b-0"])["b-0"]
    assert about.deleted_at == NOON
    runs_of_benchmark = "SELECT count(*) AS n FROM runs WHERE group_id = 'b' AND deleted_at = ?"
    assert lines.read(frame_of, runs_of_benchmark, [NOON.replace(tzinfo=None)])["n"][0] == 2
    lines.write(edits.restore, [RUN, BENCHMARK, ELSEWHERE])
    assert lines.read(read_history).rows == before and lines.read(num_runs) == 1


def test_what_is_running_is_not_deleted_and_neither_is_what_was_chosen_with_it(
    lines: Store,
) -> None:
    lines.start_run(new_run(run_id="running", group_id="alone"))
    lines.write(insert_benchmark, "busy", NOON, "busy", "running")
    for item in (Item(Kind.RUN, "running"), Item(Kind.BENCHMARK, "busy")):
        with pytest.raises(UsageError, match=f"This {item.kind} is still running: cancel it"):
            lines.write(edits.delete, [RUN, item], NOON)
        assert line(lines, item) is not None and line(lines, RUN) is not None


def test_a_run_of_a_benchmark_goes_with_its_benchmark_only(lines: Store) -> None:
    with pytest.raises(UsageError, match="delete the benchmark"):
        lines.write(edits.delete, [Item(Kind.RUN, "b-1")], NOON)


@pytest.mark.parametrize("item", [RUN, BENCHMARK, ELSEWHERE])
def test_removing_for_good_leaves_nothing_of_it_and_all_of_the_others(
    lines: Store, item: Item
) -> None:
    lines.write(fill_benchmark_tables, "b")
    lines.write(insert, "elsewhere_requests", {"elsewhere_id": "e", "request_index": 0})
    alone = counts(lines)
    twin = Item(item.kind, "twin")
    if item.kind is Kind.RUN:
        store_run(lines, "twin", steps=5)
    else:
        put(lines, MadeLine(twin, NOON, ("ngram",), ("m",), ("s",), name="T", prompts=("p", "q")))
    if item.kind is Kind.BENCHMARK:
        lines.write(fill_benchmark_tables, "twin")
    lines.write(edits.remove, [twin])
    assert counts(lines) != alone  # not deleted: it stays
    lines.write(edits.delete, [twin], NOON)
    lines.write(edits.remove, [twin])
    assert counts(lines) == alone
    assert all(line(lines, other) for other in (RUN, BENCHMARK, ELSEWHERE))


@pytest.mark.parametrize(("age", "is_gone"), [(timedelta(days=7), False), (timedelta(8), True)])
def test_after_seven_days_what_is_deleted_is_gone(
    lines: Store, age: timedelta, is_gone: bool
) -> None:
    now: datetime = NOON + age
    lines.write(edits.delete, [RUN, BENCHMARK], NOON)
    lines.write(edits.remove_expired, now)
    assert (line(lines, RUN, deleted=True) is None) == is_gone
    assert (line(lines, BENCHMARK, deleted=True) is None) == is_gone
    assert (counts(lines)["requests"] == 0) == is_gone
    assert line(lines, ELSEWHERE) is not None
