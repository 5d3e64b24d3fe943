"""The history: every filter against one written in plain Python, its pages, its figures."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.store import Store, open_store
from specviz.store.history.about import read_about
from specviz.store.history.filter import HistoryFilter, read_choices
from specviz.store.history.history import Order, has_history, read_history, read_run_ids
from specviz.store.history.line import Item, Kind
from specviz.store.history.size import FileSize, Share, file_size_of, read_share, share_text
from tests.support.properties import share
from tests.support.store.history_samples import NOON, MadeLine, put, store_run

METHODS = ("ngram", "eagle3", "medusa")
MODELS, SERVERS = ("llama", "qwen"), ("in the app", "http://a:1", "http://b:2")
CATEGORIES, FIDELITIES, TAGS = (
    ("code", "qa"),
    ("traced", "counted"),
    ("nightly", "<b>x</b>", "%"),
)
WORDS = ("Alpha", "beta's", "100 %", "한국어", "_", '"; DROP TABLE runs; --')
LISTS = ("kinds", "methods", "models", "servers", "categories", "tags", "fidelities", "statuses")


def made(rng: random.Random, number: int) -> MadeLine:
    kind = rng.choice([Kind.RUN, Kind.RUN, Kind.BENCHMARK, Kind.TOOL_RESULT])
    answered = kind is not Kind.TOOL_RESULT
    several = 2 if kind is Kind.BENCHMARK else 1
    prompts = tuple(rng.choice(WORDS) for _ in range(rng.randrange(3) if answered else 0))
    return MadeLine(
        item=Item(kind, f"{number:02}"),
        at=NOON - timedelta(hours=rng.randrange(60)),
        methods=tuple(sorted(rng.sample(METHODS, several))),
        models=(rng.choice(MODELS),),
        servers=(rng.choice(SERVERS),),
        categories=tuple(sorted(rng.sample(CATEGORIES, min(len(prompts), 2)))),
        fidelities=(rng.choice(FIDELITIES),) if prompts else (),
        statuses=(rng.choice(["finished", "failed"]),) if answered else (),
        tags=tuple(sorted(rng.sample(TAGS, rng.randrange(3)))),
        name=rng.choice(WORDS) if kind is not Kind.RUN or rng.random() < 0.5 else "",
        note=rng.choice(["", "", *WORDS]),
        prompts=prompts,
        deleted=rng.random() < 0.3,
    )


ALL = [made(random.Random(number), number) for number in range(40)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("history") / "runs.duckdb"
    with open_store(path) as store:
        put(store, *ALL)
        yield store


def fits(line: MadeLine, wanted: HistoryFilter) -> bool:
    for name in LISTS:
        chosen = getattr(wanted, name)
        if chosen and not {*chosen} & {*getattr(line, name)}:
            return False
    text = wanted.text.strip().lower()
    where = [line.name, line.note, " ".join(line.tags), " ".join(line.methods), *line.prompts]
    return (
        line.deleted == wanted.deleted
        and (wanted.since is None or line.at >= wanted.since)
        and (wanted.until is None or line.at < wanted.until)
        and any(text in one.lower() for one in where)
    )


def several(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.just(()) | st.lists(st.sampled_from([*values, "?"]), max_size=2).map(tuple)


hours = st.none() | st.integers(0, 60).map(lambda back: NOON - timedelta(hours=back))
filters = st.builds(
    HistoryFilter,
    kinds=several(*Kind),
    methods=several(*METHODS),
    models=several(*MODELS),
    servers=several(*SERVERS),
    categories=several(*CATEGORIES),
    tags=several(*TAGS),
    fidelities=several(*FIDELITIES),
    statuses=several("finished", "failed"),
    since=hours,
    until=hours,
    text=st.just("") | st.sampled_from([*WORDS, "ALPHA", "%", "'", " gra", "night"]),
    deleted=st.booleans(),
)


@share(0.3)
@given(wanted=filters)
def test_a_filter_lets_through_what_plain_python_does(filled: Store, wanted: HistoryFilter) -> None:
    expected = sorted(
        (line for line in ALL if fits(line, wanted)),
        key=lambda line: (-line.at.timestamp(), line.item.item_id),
    )
    found = filled.read(read_history, wanted)
    assert [row.item for row in found.rows] == [line.item for line in expected]
    assert found.total == len(expected)


def test_a_span_begins_with_its_first_moment_and_ends_before_its_last(filled: Store) -> None:
    line = next(line for line in ALL if not line.deleted)
    for wanted, is_in in (
        (HistoryFilter(since=line.at), True),
        (HistoryFilter(until=line.at), False),
    ):
        found = filled.read(read_history, wanted)
        assert (line.item in [row.item for row in found.rows]) == is_in


def test_lines_say_what_was_stored(filled: Store) -> None:
    rows = filled.read(read_history).rows
    made_as = {line.item: line for line in ALL}
    for row in rows:
        line = made_as[row.item]
        assert (row.methods, row.models, row.servers) == (line.methods, line.models, line.servers)
        assert {*row.categories} == {*line.categories} and row.fidelities == line.fidelities
        assert (row.name or "", row.note or "", row.tags) == (line.name, line.note, line.tags)
        assert row.deleted_at is None
        if row.item.kind is Kind.RUN:
            assert row.num_requests == len(line.prompts)
            assert row.prompt_start == (line.prompts[0] if line.prompts else None)
            accepted = sum(10 + place for place in range(len(line.prompts)))
            rate = accepted / (40 * len(line.prompts)) if line.prompts else None
            assert row.draft_acceptance_rate == rate
            assert row.output_throughput == (20.0 if line.prompts else None)
        if row.item.kind is Kind.BENCHMARK:
            assert (row.num_runs, row.num_requests) == (2, 2 * len(line.prompts))
            assert row.draft_acceptance_rate is None


def test_pages_add_up_and_blanks_come_last(filled: Store) -> None:
    requests = [row.num_requests for row in by(filled, Order.REQUESTS)]
    assert requests == sorted(requests, reverse=True)
    rows = by(filled, Order.ACCEPTANCE)
    pages = [
        filled.read(read_history, order=Order.ACCEPTANCE, limit=11, offset=at)
        for at in (0, 11, 22, 33)
    ]
    assert tuple(row for page in pages for row in page.rows) == rows
    assert {page.total for page in pages} == {len(rows)}
    rates = [row.draft_acceptance_rate for row in rows]
    known = [rate for rate in rates if rate is not None]
    assert known == sorted(known, reverse=True) and rates[: len(known)] == known


def test_every_order_shows_every_line(filled: Store) -> None:
    for order in Order:
        assert {row.item for row in by(filled, order)} == {t.item for t in ALL if not t.deleted}


def by(store: Store, order: Order) -> tuple:
    return store.read(read_history, order=order).rows


def test_every_choice_that_is_offered_is_stored(filled: Store) -> None:
    choices = filled.read(read_choices)
    for name in LISTS[1:]:
        expected = {value for line in ALL for value in getattr(line, name)}
        assert {*getattr(choices, name)} == expected


def test_an_empty_store_has_no_history(store: Store) -> None:
    assert not store.read(has_history)
    assert store.read(read_history).rows == ()
    share = store.read(read_share, [])
    size = file_size_of(store)
    assert share == Share(0, 0, 0, 0) and size is not None and share.bytes_of(size) is None


def test_a_share_of_the_room_goes_by_stored_rows(store: Store) -> None:
    small, large = store_run(store, "small", steps=1), store_run(store, "large", steps=9)
    shares = [store.read(read_share, items) for items in ([small], [large], [small, large])]
    assert [(one.num_requests, one.num_steps, one.num_decisions) for one in shares] == [
        (1, 1, 3),
        (1, 9, 27),
        (2, 10, 30),
    ]
    size = file_size_of(store)
    assert size is not None
    assert [one.part for one in shares] == [5 / 42, 37 / 42, 1]
    assert shares[0].bytes_of(size) is None  # of so few rows a file says nothing
    assert Share(0, 100, 900, 200_000).bytes_of(FileSize(3_000_000, 1_000_000)) == 20_000
    assert share_text(shares[0], size) == "1 steps and 3 decisions, 12 % of all rows"
    few = Share(0, 1, 0, 10_000)
    assert share_text(few, None) == "1 steps and 0 decisions, below 0.1 % of all rows"


def test_a_benchmark_keeps_no_single_decisions(store: Store) -> None:
    benchmark = Item(Kind.BENCHMARK, "b")
    put(store, MadeLine(benchmark, NOON, ("ngram",), ("m",), ("s",), prompts=("p", "q")))
    samples = (
        "INSERT INTO samples BY NAME SELECT request_id, 'b' AS benchmark_id, run_id, "
        "'r' AS round_id, 0 AS prompt_index, 0 AS turn, '' AS block, 0 AS sent_ms, "
        "0 AS queue_ms FROM requests"
    )
    store.write(lambda cursor: [cursor.execute(samples)].clear())
    share = store.read(read_share, [benchmark])
    assert share == Share(2, 20, 0, 22)


def test_what_is_known_of_a_run_beyond_its_configuration(store: Store) -> None:
    put(
        store,
        MadeLine(Item(Kind.BENCHMARK, "b"), NOON, ("ngram", "eagle3"), ("m",), ("http://a:1",)),
    )
    for run_id in ("one", "two"):
        store_run(store, run_id, group_id="together")
    known = store.read(read_about, ["one", "b-1", "nobody"])
    assert {*known} == {"one", "b-1"}
    assert (known["one"].benchmark_id, known["one"].num_together) == (None, 2)
    assert known["one"].item == Item(Kind.RUN, "one")
    assert known["b-1"].item == Item(Kind.BENCHMARK, "b")
    items = [Item(Kind.BENCHMARK, "b"), Item(Kind.TOOL_RESULT, "e"), Item(Kind.RUN, "two")]
    assert store.read(read_run_ids, items) == ["b-0", "b-1", "two"]
