"""Runs that were started together as one line, and one line per prompt, against plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.history import edits
from specviz.store.history.filter import HistoryFilter
from specviz.store.history.history import Order, read_history, read_run_ids
from specviz.store.history.line import HistoryRow, Item, Kind
from specviz.store.history.prompts import read_prompts
from tests.support.properties import share
from tests.support.store.history_samples import NOON, MadeLine, put
from tests.support.store.samples import new_run

METHODS, TAGS = ("baseline", "eagle3", "ngram"), ("nightly", "%")
PROMPTS = ("Merge two lists", "한국어", "'; DROP TABLE runs; --", "merge")
BENCHMARK = MadeLine(
    Item(Kind.BENCHMARK, "b"), NOON, METHODS[:2], ("m",), ("s",), name="B", prompts=PROMPTS[:1]
)
RESULT = MadeLine(Item(Kind.TOOL_RESULT, "e"), NOON, ("eagle",), ("m",), ("s",), name="E")


def made(number: int) -> MadeLine:
    rng = random.Random(number)
    prompts = tuple(rng.choice(PROMPTS) for _ in range(rng.randrange(4)))
    return MadeLine(
        item=Item(Kind.RUN, f"{number:02}"),
        at=NOON - timedelta(hours=rng.randrange(30), seconds=number),
        methods=(rng.choice(METHODS),),
        models=(rng.choice(["llama", "qwen"]),),
        servers=(rng.choice(["in the app", "http://a:1"]),),
        categories=("code",) if prompts and rng.random() < 0.5 else (),
        statuses=(rng.choice(["finished", "failed"]),),
        tags=tuple(sorted(rng.sample(TAGS, rng.randrange(3)))),
        name=rng.choice(["", "Alpha", "beta"]),
        note=rng.choice(["", "a note", "other"]),
        prompts=prompts,
        deleted=rng.random() < 0.2,
        group_id=f"g{rng.randrange(14)}",
    )


RUNS = [made(number) for number in range(30)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("groups") / "runs.duckdb"
    with open_store(path) as store:
        put(store, *RUNS, BENCHMARK, RESULT)
        yield store


def as_started(runs: Iterable[MadeLine]) -> list[MadeLine]:
    return sorted(runs, key=lambda run: (run.at, run.item.item_id))


def together(deleted: bool) -> list[list[MadeLine]]:
    groups = defaultdict(list)
    for run in RUNS:
        if run.deleted == deleted:
            groups[run.group_id].append(run)
    return [as_started(runs) for runs in groups.values()]


def item_of(runs: list[MadeLine]) -> Item:
    return Item(Kind.GROUP, runs[0].group_id) if len(runs) > 1 else runs[0].item


def of_runs(runs: Iterable[MadeLine], name: str) -> tuple[str, ...]:
    return tuple(sorted({value for run in runs for value in getattr(run, name)}))


def fits(runs: list[MadeLine], wanted: HistoryFilter) -> bool:
    for name in ("kinds", "methods", "models", "categories", "tags", "statuses"):
        chosen = getattr(wanted, name)
        if chosen and not {*chosen} & {*of_runs(runs, name)}:
            return False
    at, text = runs[0].at, wanted.text.strip().lower()
    words = [word for run in runs for word in (run.name, run.note, *run.prompts)]
    words += [" ".join(of_runs(runs, "tags")), " ".join(of_runs(runs, "methods"))]
    prompts = of_runs(runs, "prompts")
    return (
        (wanted.since is None or at >= wanted.since)
        and (wanted.until is None or at < wanted.until)
        and any(text in word.lower() for word in words)
        and (not wanted.prompt_key or wanted.prompt_key in map(key_of, prompts))
    )


def key_of(prompt: str) -> str:
    return md5(prompt.encode()).hexdigest()


def several(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.just(()) | st.lists(st.sampled_from([*values, "?"]), max_size=2).map(tuple)


hours = st.none() | st.integers(0, 30).map(lambda back: NOON - timedelta(hours=back))
filters = st.builds(
    HistoryFilter,
    kinds=st.just((Kind.RUN,)),
    methods=several(*METHODS),
    models=several("llama", "qwen"),
    categories=several("code"),
    tags=several(*TAGS),
    statuses=several("finished", "failed"),
    since=hours,
    until=hours,
    text=st.just("") | st.sampled_from(["alpha", "MERGE", "%", "'", "other", "ngra"]),
    prompt_key=st.just("") | st.sampled_from([*map(key_of, PROMPTS), "gone"]),
    deleted=st.booleans(),
)


@share(0.3)
@given(wanted=filters)
def test_a_group_is_found_where_one_of_its_runs_is(filled: Store, wanted: HistoryFilter) -> None:
    expected = [item_of(runs) for runs in together(wanted.deleted) if fits(runs, wanted)]
    found = filled.read(read_history, wanted, together=True)
    assert {row.item for row in found.rows} == {*expected}
    assert found.total == len(found.rows) == len(expected)


def test_a_group_says_what_its_runs_are(filled: Store) -> None:
    made_as = {item_of(runs): runs for runs in together(False)}
    rows = filled.read(read_history, HistoryFilter(kinds=(Kind.RUN,)), together=True).rows
    assert {row.item.kind for row in rows} == {Kind.RUN, Kind.GROUP}
    for row in rows:
        runs = made_as[row.item]
        assert row.run_ids == tuple(run.item.item_id for run in runs)
        assert row.items == tuple(run.item for run in runs)
        for name in ("methods", "models", "servers", "categories", "tags"):
            assert getattr(row, name) == of_runs(runs, name)
        assert row.title == ", ".join(dict.fromkeys(run.methods[0] for run in runs))
        assert row.status == ", ".join(of_runs(runs, "statuses"))
        assert (row.name or "") == next((run.name for run in runs if run.name), "")
        assert row.started_at == runs[0].at and row.num_runs == len(runs)
        assert row.num_requests == sum(len(run.prompts) for run in runs)
        rates = [
            sum(10 + place for place in range(len(run.prompts))) / (40 * len(run.prompts))
            for run in runs
            if run.prompts
        ]
        assert row.draft_acceptance_rate == (max(rates) if rates else None)


@pytest.mark.parametrize(
    "order",
    [pytest.param(one, marks=[] if one is Order.OLDEST else pytest.mark.slow) for one in Order],
)
def test_pages_of_groups_add_up(filled: Store, order: Order) -> None:
    whole = filled.read(read_history, together=True, order=order)
    pages = [
        filled.read(read_history, together=True, order=order, limit=5, offset=at).rows
        for at in range(0, whole.total, 5)
    ]
    assert [row for page in pages for row in page] == [*whole.rows]
    assert {BENCHMARK.item, RESULT.item} < {row.item for row in whole.rows}


@share(0.3)
@given(wanted=filters)
def test_prompts_are_those_of_the_runs_that_are_found(filled: Store, wanted: HistoryFilter) -> None:
    expected = defaultdict(list)
    for run in as_started(RUNS):
        if run.deleted == wanted.deleted and fits([run], wanted):
            for prompt in {*run.prompts}:
                expected[prompt].append(run)
    found = filled.read(read_prompts, wanted)
    assert {(row.prompt_start, row.run_ids) for row in found.rows} == {
        (prompt, tuple(run.item.item_id for run in runs)) for prompt, runs in expected.items()
    }
    newest = [max(run.at for run in expected[row.prompt_start]) for row in found.rows]  # type: ignore[index]
    assert [row.started_at for row in found.rows] == newest == sorted(newest, reverse=True)
    for row in found.rows:
        assert row.item == Item(Kind.PROMPT, key_of(row.prompt_start or ""))
        runs = expected[row.prompt_start or ""]
        answers = sum(run.prompts.count(row.prompt_start or "") for run in runs)
        assert (row.num_runs, row.num_requests) == (len(runs), answers)
    assert found.total == len(found.rows)


def test_a_prompt_opens_to_the_runs_that_it_counts(filled: Store) -> None:
    for row in filled.read(read_prompts).rows:
        runs = filled.read(read_history, HistoryFilter(prompt_key=row.item.item_id)).rows
        assert {found.item for found in runs} == {*row.items}


@pytest.fixture
def three(store: Store) -> Store:
    """Runs a, b and c, started together."""
    for place, run_id in enumerate("abc"):
        at = NOON + timedelta(seconds=place)
        line = MadeLine(Item(Kind.RUN, run_id), at, ("ngram",), ("m",), ("s",), group_id="three")
        put(store, line)
    return store


def only(store: Store, *, deleted: bool = False) -> HistoryRow:
    (row,) = store.read(read_history, HistoryFilter(deleted=deleted), together=True).rows
    return row


def test_a_group_is_tagged_deleted_restored_and_removed_as_a_whole(three: Store) -> None:
    group = only(three)
    assert group.item == Item(Kind.GROUP, "three")
    assert three.read(read_run_ids, group.items) == ["a", "b", "c"]
    three.write(edits.tag, group.items, ["nightly"])
    three.write(edits.write_note, group.items, "one note")
    assert (only(three).tags, only(three).note) == (("nightly",), "one note")
    assert [row.tags for row in three.read(read_history).rows] == [("nightly",)] * 3
    three.write(edits.delete, group.items, NOON)
    assert three.read(read_history, together=True).total == 0
    assert only(three, deleted=True).run_ids == ("a", "b", "c")
    three.write(edits.restore, only(three, deleted=True).items)
    assert only(three).items == group.items
    three.write(edits.delete, group.items, NOON)
    three.write(edits.remove, only(three, deleted=True).items)
    assert three.read(read_history, HistoryFilter(deleted=True), together=True).total == 0


def test_what_is_deleted_of_a_group_leaves_the_others_where_they_are(three: Store) -> None:
    three.write(edits.delete, [Item(Kind.RUN, "a")], NOON)
    assert (only(three).item, only(three).run_ids) == (Item(Kind.GROUP, "three"), ("b", "c"))
    gone = only(three, deleted=True)
    assert (gone.item, gone.deleted_at) == (Item(Kind.RUN, "a"), NOON)
    three.write(edits.delete, only(three).items, NOON + timedelta(hours=1))
    assert only(three, deleted=True).run_ids == ("a", "b", "c")


def test_a_group_with_a_run_that_goes_on_is_not_deleted(three: Store) -> None:
    three.start_run(new_run(run_id="d", group_id="three"))
    with pytest.raises(UsageError, match="still running"):
        three.write(edits.delete, only(three).items, NOON)
    assert only(three).run_ids == ("a", "b", "c", "d")
    assert only(three).status == "finished, running"
