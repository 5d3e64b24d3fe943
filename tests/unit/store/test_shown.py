"""What pages are about: your own store, or the sample until there is something in it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from specviz.errors import StoreError
from specviz.store import Store, migrations, open_store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.history import edits
from specviz.store.history.history import read_history
from specviz.store.history.line import Item, Kind
from specviz.store.runs.runs import read_run
from specviz.store.runs.tables import insert
from specviz.store.shipped import REFUSAL, REGRESSION, SAMPLE, Shipped, read_recorded
from specviz.store.shown import Shown, has_benchmarks, hides_sample
from specviz.store.sql.sandbox import run_sql
from tests.support.store.made import made
from tests.support.store.samples import new_run, record, request_events

AT = datetime(2026, 11, 22, tzinfo=UTC)
BENCHMARK = {
    "name": "b", "plan_toml": "", "planned": 1, "servers_at_once": 1, "status": "finished",
    "started_at": datetime(2026, 11, 22), "specviz_version": "0",
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sample with a run and a benchmark."""
    path = made(tmp_path_factory.mktemp("sample") / "recorded.duckdb")
    with open_store(path) as store:
        record(store, new_run(run_id="theirs"), request_events(2, "theirs-1"))
        store.write(insert, "benchmarks", {"benchmark_id": "their-benchmark", **BENCHMARK})
        store.write(edits.tag, [Item(Kind.RUN, "theirs")], [REGRESSION])
    return gzip.compress(path.read_bytes(), compresslevel=1)


@pytest.fixture
def packed(tmp_path: Path, recorded: bytes) -> Path:
    file = tmp_path / "sample.duckdb.gz"
    file.write_bytes(recorded)
    return file


@pytest.fixture
def shipped(packed: Path) -> Iterator[Shipped]:
    found = Shipped(packed)
    yield found
    found.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Store]:
    with open_store(made(tmp_path / "own.duckdb")) as store:
        yield store


@pytest.fixture
def shown(own: Store, shipped: Shipped) -> Shown:
    return Shown(own, shipped)


def add_run(store: Store, run_id: str = "mine") -> None:
    record(store, new_run(run_id=run_id), request_events(1, f"{run_id}-1"))


def test_an_empty_store_shows_the_sample(shown: Shown, shipped: Shipped) -> None:
    assert shown.runs() is shown.benchmarks() is shipped.store()
    assert shown.runs().read(read_run, "theirs").run_id == "theirs"
    recorded = shown.recorded
    assert recorded is not None and recorded.regression == ("theirs",)


def test_each_kind_goes_when_there_is_one_of_ones_own(
    own: Store, shown: Shown, shipped: Shipped
) -> None:
    add_run(own)
    assert shown.runs() is own
    assert shown.benchmarks() is shipped.store()
    own.write(insert, "benchmarks", {"benchmark_id": "mine-too", **BENCHMARK})
    assert shown.benchmarks() is own


def test_a_benchmark_is_a_line_of_runs_too(own: Store, shown: Shown) -> None:
    own.write(insert, "benchmarks", {"benchmark_id": "mine", **BENCHMARK})
    assert shown.runs() is shown.benchmarks() is own


def test_what_is_deleted_is_still_ones_own(own: Store, shown: Shown, shipped: Shipped) -> None:
    add_run(own)
    item = Item(Kind.RUN, "mine")
    own.write(edits.delete, [item], AT)
    assert shown.runs() is own  # where it can be brought back
    own.write(edits.remove, [item])
    assert shown.runs() is shipped.store()


def test_an_address_finds_ones_own_first_then_the_sample(
    own: Store, shown: Shown, shipped: Shipped
) -> None:
    add_run(own)
    add_run(own, "theirs")  # a sample that was imported, for example
    assert shown.runs(["mine"]) is shown.runs(["theirs"]) is shown.runs(["nobody's"]) is own
    assert shown.benchmarks(["their-benchmark"]) is shown.runs(["their-benchmark"])
    assert shown.runs(["their-benchmark"]) is shipped.store()
    assert shown.runs(["nobody's", "their-benchmark"]) is shipped.store()


def test_hidden_is_kept_and_undone(own: Store, tmp_path: Path, shipped: Shipped) -> None:
    Shown(own, shipped).hide()
    Shown(own, shipped).hide()  # of another tab
    own.close()
    with open_store(made(tmp_path / "own.duckdb")) as again:
        shown = Shown(again, shipped)
        assert shown.can_come_back()
        assert shown.runs() is shown.benchmarks() is again
        assert shown.runs(["theirs"]) is shipped.store()  # a link says what it wants
        shown.bring_back()
        assert not shown.can_come_back()
        assert shown.runs() is shipped.store()


def test_the_sample_takes_nothing_and_says_so(shown: Shown, packed: Path) -> None:
    before = packed.read_bytes()
    sample = shown.runs()
    with pytest.raises(StoreError, match="cannot be changed"):
        sample.write(edits.rename, Item(Kind.RUN, "theirs"), "mine")
    with pytest.raises(StoreError, match="cannot be changed"):
        add_run(sample)
    assert sample.refusal == REFUSAL
    assert {row.name for row in sample.read(read_history).rows} == {"b", None}
    assert packed.read_bytes() == before


def test_users_sql_runs_on_it_as_on_any_store(shown: Shown, own: Store) -> None:
    add_run(own)
    (row,) = run_sql(shown.benchmarks(), "SELECT run_id FROM runs").rows
    assert row == ("theirs",)
    (row,) = run_sql(own, "SELECT run_id FROM runs").rows
    assert row == ("mine",)


def test_a_sample_of_an_earlier_schema_is_migrated(own: Store) -> None:
    oldest = Shipped(Path(__file__).with_name("data") / "schema-1.duckdb.gz")
    try:
        sample = Shown(own, oldest).runs()
        assert sample is oldest.store()
        with sample.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM specviz_migrations")
            assert cursor.fetchone() == (len(migrations.names()),)
    finally:
        oldest.close()


@pytest.mark.parametrize(
    "content", [None, b"", b"no gzip", b"half", gzip.compress(b"no database", mtime=0)]
)
def test_a_missing_or_damaged_sample_costs_a_sentence(
    own: Store, packed: Path, content: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    whole = packed.read_bytes()
    packed.unlink()
    if content is not None:
        packed.write_bytes(whole[: len(whole) // 2] if content == b"half" else content)
    shown = Shown(own, Shipped(packed))
    assert shown.runs() is shown.benchmarks(["their-benchmark"]) is own
    assert shown.recorded is None
    assert shown.problem is not None
    assert shown.problem.startswith("The sample that ships with specviz cannot be shown (")
    assert caplog.text.count("cannot be shown") == 1  # asked for three times


def test_without_a_sample_there_is_only_ones_own(own: Store) -> None:
    shown = Shown(own, None)
    assert shown.runs() is shown.runs(["theirs"]) is shown.benchmarks() is own
    assert shown.recorded is shown.problem is None
    assert not shown.can_come_back()


def test_after_closing_nothing_of_it_is_left(shipped: Shipped) -> None:
    sample = shipped.store()
    assert sample is not None and sample.path.exists()
    shipped.close()
    assert not sample.path.parent.exists()
    assert shipped.store() is None


def test_one_that_is_never_asked_for_is_never_unpacked(tmp_path: Path, own: Store) -> None:
    missing = Shipped(tmp_path / "none.gz")
    add_run(own)
    assert Shown(own, missing).runs() is own
    missing.close()
    assert missing.problem is None


def test_the_one_that_ships_has_what_pages_begin_with() -> None:
    """As it is recorded: finished, labelled, a K sweep that was redrafted, a pair to compare."""
    shipped = Shipped(SAMPLE)
    try:
        sample = shipped.store()
        assert sample is not None, shipped.problem
        assert sample.read(has_benchmarks) and not sample.read(hides_sample)
        lines = sample.read(read_history, together=True).rows
        assert {line.status for line in lines} == {"finished"}
        assert all(line.tags for line in lines)
        benchmarks = sample.read(read_benchmarks)
        assert len(benchmarks) == 3
        assert len(sample.read(read_recorded).regression) == 2
    finally:
        shipped.close()
