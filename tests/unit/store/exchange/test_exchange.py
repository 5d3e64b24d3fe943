"""What leaves a store as a file and comes back into another one is equal."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.exchange import Format, export, import_file
from specviz.store.exchange.csv_file import cell
from specviz.trace import fold
from specviz.wire import event_from_dict
from tests.support.properties import share
from tests.support.store.exchange_samples import HOSTILE, filled, put_anything
from tests.support.store.made import made
from tests.support.store.round_trip import assert_equal_rows, assert_round_trip
from tests.support.store.samples import (
    frame_of,
    new_run,
    prompts,
    record,
    request_events,
    runs,
    traces,
)

DATA = Path(__file__).parents[1] / "data"

few = settings(share(0.05), phases=[Phase.generate], suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A filled store that no test changes."""
    with open_store(made(tmp_path_factory.mktemp("source") / "runs.duckdb")) as opened:
        filled(opened)
        yield opened


def test_a_store_of_many_shapes(source: Store) -> None:
    assert_round_trip(source)


@few
@given(st.lists(st.tuples(runs, traces(), prompts), min_size=3, max_size=10), st.data())
def test_any_traces(
    tmp_path_factory: pytest.TempPathFactory, reported: list[tuple], data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from([Format.PARQUET, Format.JSONL]))
    with open_store(made(tmp_path_factory.mktemp("any") / "runs.duckdb")) as store:
        put_anything(store, reported)
        assert_round_trip(store, (kind,))


@pytest.mark.parametrize(
    "kind", ["parquet", "jsonl", pytest.param("folder", marks=pytest.mark.slow)]
)
def test_an_export_from_before_columns_were_renamed(
    store: Store, tmp_path: Path, kind: str
) -> None:
    file = DATA / ("export-6.jsonl" if kind == "jsonl" else "export-6.parquet.zip")
    if kind == "folder":
        with zipfile.ZipFile(file) as archive:
            archive.extractall(tmp_path / "unpacked")
        file = tmp_path / "unpacked"
    done = import_file(store, file)
    assert sorted(done.stored["run"]) == ["run-b", "whole"]
    speeds = store.read(frame_of, "SELECT output_throughput FROM requests ORDER BY ALL NULLS LAST")
    assert list(speeds["output_throughput"][:2]) == [200.0, 1000.0]
    (other,) = store.read(frame_of, "SELECT * FROM elsewhere").to_dict("records")
    assert other["output_throughput"] == pytest.approx(87.004, abs=1e-3)
    assert other["request_throughput"] == pytest.approx(5.849, abs=1e-3)
    (saved,) = store.read(frame_of, "SELECT sql FROM saved_queries")["sql"]
    assert saved == "SELECT max(output_throughput) FROM requests"
    again = import_file(store, file)
    assert (again.rows, sorted(again.already["run"])) == (0, ["run-b", "whole"])


def test_an_export_of_today_may_not_use_the_old_names(store: Store, tmp_path: Path) -> None:
    lines = (DATA / "export-6.jsonl").read_text(encoding="utf-8").splitlines()[:-1]
    lines[0] = lines[0].replace('"0006_compact.sql"', '"0006_compact.sql", "0007_names.sql"')
    text = "".join(f"{line}\n" for line in lines)
    digest = hashlib.sha256(text.encode()).hexdigest()
    end = json.dumps({"type": "end", "lines": len(lines), "sha256": digest})
    (tmp_path / "odd.jsonl").write_text(f"{text}{end}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"has no column '(output_)?tokens_per_s'"):
        import_file(store, tmp_path / "odd.jsonl")


def test_a_selection_takes_what_belongs_to_it_and_no_more(source: Store, tmp_path: Path) -> None:
    done = export(source, ["partial", "e"], Format.PARQUET, tmp_path / "some.zip")
    assert done.rows == {
        "runs": 1, "requests": 1, "steps": 1, "decisions": 3, "elsewhere": 1,
        "elsewhere_requests": 1,
    }  # fmt: skip
    whole = export(source, ["bench"], Format.PARQUET, tmp_path / "bench.zip")
    assert whole.rows == {
        "benchmarks": 1, "benchmark_prompts": 1, "benchmark_arms": 1, "runs": 1, "rounds": 1,
        "requests": 2, "samples": 2, "k_replays": 1, "k_step_times": 1,
    }  # fmt: skip


def test_a_group_is_its_runs(source: Store, tmp_path: Path) -> None:
    done = export(source, ["group"], Format.JSONL, tmp_path / "group.jsonl")
    assert sorted(done.ids["runs"]) == ["failed", "partial", "plain"]


def test_a_folder_takes_the_files(source: Store, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    folder.mkdir()
    done = export(source, None, Format.PARQUET, folder)
    assert done.bytes == sum(file.stat().st_size for file in folder.iterdir())
    with open_store(made(tmp_path / "other.duckdb")) as other:
        import_file(other, folder)
        assert_equal_rows(source, other)


def test_the_lines_are_the_trace(store: Store, tmp_path: Path) -> None:
    events = request_events(4, "r")
    record(store, new_run(run_id="one"), events)
    export(store, ["one"], Format.JSONL, tmp_path / "one.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text().splitlines()]
    reported = [line for line in lines if line.get("type") in ("started", "step", "finished")]
    assert fold(map(event_from_dict, reported)) == fold(events)


def test_a_run_alone_is_part_of_its_benchmark_later(source: Store, tmp_path: Path) -> None:
    export(source, ["cell-bench"], Format.JSONL, tmp_path / "cell.jsonl")
    export(source, ["bench"], Format.PARQUET, tmp_path / "bench.zip")
    with open_store(made(tmp_path / "other.duckdb")) as other:
        import_file(other, tmp_path / "cell.jsonl")
        rest = import_file(other, tmp_path / "bench.zip")
    assert rest.stored == {"benchmark": ["bench"]}
    assert rest.already == {"run": ["cell-bench"]}


def test_what_people_added_here_stays(store: Store, tmp_path: Path) -> None:
    filled(store)
    export(store, ["failed"], Format.PARQUET, tmp_path / "f.zip")
    store.write(lambda cursor: cursor.execute("UPDATE runs SET note = 'mine', tags = ['x']"))
    done = import_file(store, tmp_path / "f.zip")
    assert done.already == {"run": ["failed"]} and not done.stored
    notes = store.read(frame_of, "SELECT DISTINCT note FROM runs")
    assert list(notes["note"]) == ["mine"]


def test_an_import_reports_a_run_that_is_deleted_here(source: Store, tmp_path: Path) -> None:
    done = export(source, ["plain"], Format.PARQUET, tmp_path / "f.zip")
    assert done.rows["runs"] == 1
    assert "Deleted here" in import_file(source, tmp_path / "f.zip").notes[0]


def test_what_runs_is_not_exported(store: Store, tmp_path: Path) -> None:
    filled(store)
    store.start_run(new_run(run_id="now"))
    with pytest.raises(UsageError, match="now still runs"):
        export(store, ["now"], Format.CSV, tmp_path / "f.zip")
    done = export(store, None, Format.CSV, tmp_path / "f.zip")
    assert done.left_out == ("Left out because it still runs: now.",)
    assert done.rows["runs"] == 5


@pytest.mark.parametrize("ids", [[], ["nobody"], ["plain", "nobody"]])
def test_ids_that_are_not_there(source: Store, tmp_path: Path, ids: list[str]) -> None:
    with pytest.raises(UsageError, match=r"nobody|Name at least one"):
        export(source, ids, Format.JSONL, tmp_path / "f.jsonl")
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_stays(source: Store, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        export(source, None, Format.JSONL, tmp_path / "mine.jsonl")
    with pytest.raises(UsageError, match="no folder"):
        export(source, None, Format.JSONL, tmp_path / "none" / "f.jsonl")
    assert (tmp_path / "mine.jsonl").read_text() == "mine"


def test_a_spreadsheet_runs_no_formula(store: Store, tmp_path: Path) -> None:
    record(store, new_run(run_id="r", error="=1+1"), request_events(1), prompt="@SUM(A1)\n한국어")
    export(store, ["r"], Format.CSV, tmp_path / "f.csv.zip")
    with zipfile.ZipFile(tmp_path / "f.csv.zip") as archive:
        assert archive.namelist() == [
            "runs.csv", "requests.csv", "steps.csv", "decisions.csv", "manifest.json",
        ]  # fmt: skip
        text = archive.read("requests.csv").decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["prompt"] == "'@SUM(A1)\n한국어"
    assert row["ttft_ms"] == "10.0"


@pytest.mark.parametrize("value", ["=1", "+1", "-1", "@x", "\tx", "\rx", HOSTILE[-3:] + "=1"])
def test_cells(value: str) -> None:
    assert not str(cell(value)).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_numbers_in_cells_stay_numbers() -> None:
    assert (cell(-1.5), cell(-3), cell(None), cell([-1])) == (-1.5, -3, None, "[-1]")
