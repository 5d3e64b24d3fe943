"""Files that were damaged, made up or made to do harm: one sentence each, and nothing stored."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.exchange import Format, ImportLabels, export, import_file, lines_read
from specviz.store.exchange.exported_tables import EXPORTED_TABLES
from tests.support.store.exchange_samples import filled
from tests.support.store.made import made
from tests.support.store.samples import frame_of

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything of a filled store, and with two of its runs."""
    folder = tmp_path_factory.mktemp("exported")
    with open_store(made(folder / "source.duckdb")) as source:
        filled(source)
        export(source, None, Format.PARQUET, folder / "all.zip")
        export(source, ["plain", "partial"], Format.PARQUET, folder / "runs.zip")
        export(source, ["plain", "partial"], Format.JSONL, folder / "runs.jsonl")
    return folder


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with open_store(made(tmp_path_factory.mktemp("empty") / "runs.duckdb")) as opened:
        yield opened


def refused(store: Store, path: Path, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        import_file(store, path)
    reported = str(caught.value)
    assert says in reported, reported
    assert "\n" not in reported and len(reported) < 500
    counts = [f"(SELECT count(*) FROM {table.name})" for table in EXPORTED_TABLES]
    assert store.read(frame_of, f"SELECT {' + '.join(counts)} AS n")["n"][0] == 0


def rewritten(source: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The zip with other members; hashes and lengths of the manifest are made to fit again."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    manifest = json.loads(members["manifest.json"])
    for table, entry in manifest["tables"].items():
        content = members.get(f"{table}.parquet")
        if content is not None:
            entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target


def with_rows(table: str, change: Callable[[pa.Table], pa.Table]) -> Callable[[dict], None]:
    """Change one table of a zip, its count in the manifest included."""

    def apply(members: dict[str, bytes]) -> None:
        changed = change(pq.read_table(pa.BufferReader(members[f"{table}.parquet"])))
        sink = pa.BufferOutputStream()
        pq.write_table(changed, sink)
        members[f"{table}.parquet"] = sink.getvalue().to_pybytes()
        manifest = json.loads(members["manifest.json"])
        manifest["tables"][table]["rows"] = changed.num_rows
        members["manifest.json"] = json.dumps(manifest).encode()

    return apply


def valued(column: str, value: Any) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(column)
        filled_in = pa.array([value] * table.num_rows, table.schema.field(column).type)
        return table.set_column(place, column, filled_in)

    return change


@pytest.mark.parametrize(
    ("table", "change", "says"),
    [
        ("runs", valued("status", "running"), "what is imported has ended"),
        ("runs", valued("method", "magic"), "no run of specviz"),
        ("runs", valued("temperature", 9.0), "temperature must be between"),
        ("runs", valued("options", "{"), "Malformed JSON"),
        ("runs", valued("run_id", "one"), "two rows of run_id one"),
        ("runs", lambda table: table.append_column("x", [[1] * table.num_rows]), "column 'x'"),
        ("runs", lambda table: table.drop_columns(["status"]), "lacks the column status"),
        ("runs", lambda table: table.slice(1), "has rows of run_id"),
        ("runs", lambda table: pa.concat_tables([table, table]), "two rows"),
        ("requests", valued("prompt", None), "a row without prompt"),
        ("requests", valued("fidelity", "psychic"), "no run of specviz"),
        ("decisions", valued("verdict", "guilty"), "says 'guilty'"),
        ("decisions", valued("u", float("nan")), "is no number"),
        ("steps", lambda table: table.drop_columns(["started_at", "spans"]), None),
        (
            "steps",
            lambda table: table.set_column(
                table.schema.get_field_index("elapsed_ms"), "elapsed_ms", [["1"] * table.num_rows]
            ),
            "holds string, not double",
        ),
        ("benchmarks", valued("status", "odd"), "status 'odd'"),
    ],
)
def test_rows_that_make_no_sense(
    empty: Store, exported: Path, tmp_path: Path, table: str, change: Any, says: str | None
) -> None:
    source = "all.zip" if table == "benchmarks" else "runs.zip"
    path = rewritten(exported / source, tmp_path / "f.zip", with_rows(table, change))
    if says is not None:
        refused(empty, path, says)
        return
    with open_store(made(tmp_path / "taken.duckdb")) as other:
        assert import_file(other, path).rows > 0


def remove(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.__delitem__(name)


def manifest_with(**reported: Any) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"]) | reported
        members["manifest.json"] = json.dumps(manifest).encode()

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (remove("runs.parquet"), "does not hold what its manifest lists"),
        (lambda members: members.update({"../../evil": b"x"}), "'../../evil'"),
        (lambda members: members.update({"extra.parquet": b"x"}), "'extra.parquet'"),
        (lambda members: members.update({"runs.parquet": b"PAR1"}), "not a Parquet file"),
        (manifest_with(format=2), "newer specviz"),
        (manifest_with(format="1"), "damaged"),
        (manifest_with(migrations=["9999_future.sql"]), "knows 9999_future.sql"),
        (manifest_with(migrations=7), "damaged"),
        (manifest_with(specviz="other"), "does not say so"),
    ],
)
def test_zips_that_are_not_as_exported(
    empty: Store, exported: Path, tmp_path: Path, change: Any, says: str
) -> None:
    refused(empty, rewritten(exported / "runs.zip", tmp_path / "f.zip", change), says)


def zip_of(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_changed_byte_is_found(empty: Store, exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported / "runs.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = bytearray(members["runs.parquet"])
    content[len(content) // 2] ^= 1
    members["runs.parquet"] = bytes(content)
    refused(empty, zip_of(tmp_path / "f.zip", members), "its SHA-256 differs")


def test_a_footer_whose_histograms_do_not_fit_its_column_ends_no_process(
    empty: Store, exported: Path, tmp_path: Path
) -> None:
    """Two levels were counted where a column that must have a value has one: C++ code threw."""
    with zipfile.ZipFile(exported / "runs.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    optional, must_have_a_value = b"\x25\x02\x18\x04name", b"\x25\x00\x18\x04name"
    content = members["runs.parquet"].replace(optional, must_have_a_value)
    assert content != members["runs.parquet"]
    manifest = json.loads(members["manifest.json"])
    manifest["tables"]["runs"]["sha256"] = hashlib.sha256(content).hexdigest()
    changed = {"manifest.json": json.dumps(manifest).encode(), "runs.parquet": content}
    path = zip_of(tmp_path / "f.zip", members | changed)
    refused(empty, path, "The rows of runs cannot be read")


def test_a_bomb_is_not_unpacked(empty: Store, tmp_path: Path) -> None:
    entry = {"rows": 1, "bytes": 10, "sha256": "0"}
    manifest = {"specviz": "parquet", "format": 1, "migrations": ["0001_runs.sql"],
                "tables": {"runs": entry}}  # fmt: skip
    members = {"manifest.json": json.dumps(manifest).encode(), "runs.parquet": bytes(50_000_000)}
    refused(empty, zip_of(tmp_path / "f.zip", members), "not as it was exported")


def test_a_table_of_nothing_but_repetition_is_not_read(
    empty: Store, exported: Path, tmp_path: Path
) -> None:
    def huge(table: pa.Table) -> pa.Table:
        rows = 3_000_000
        return pa.table({"run_id": pa.array(["x"]).take(pa.array([0] * rows, pa.int8()))})

    path = rewritten(exported / "runs.zip", tmp_path / "f.zip", with_rows("runs", huge))
    refused(empty, path, "would unpack into")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"PK\x03\x04nonsense", "zip is damaged"),
        (b"PAR1....", "one table only"),
        (b"<!doctype html><p>", "HTML export is for reading"),
        (b"\x00\x00\x00\x00\x00\x00\x00\x00DUCK", "DuckDB file"),
        (b"hello", "neither an export"),
        (b"\xff\xfe{", "neither an export"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": ', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a": 1}', "of no tool that specviz reads"),
        (b"[1, 2]", "of no tool that specviz reads"),
        (b'{"specviz": "jsonl"}\n', "has no format"),
        (b'{"specviz": "jsonl", "format": 1', "not JSON"),
        (b'{"specviz": "parquet"}\n', "not a jsonl export"),
    ],
)
def test_other_files(empty: Store, tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    refused(empty, path, says)


def relined(exported: Path, path: Path, change: Callable[[list[bytes]], list[bytes]]) -> Path:
    """The lines changed, with an end line that fits them."""
    lines = change((exported / "runs.jsonl").read_bytes().splitlines(keepends=True)[:-1])
    body = b"".join(lines)
    end = {"type": "end", "lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    path.write_bytes(body + json.dumps(end).encode() + b"\n")
    return path


def swapped(old: bytes, new: bytes) -> Callable[[list[bytes]], list[bytes]]:
    def change(lines: list[bytes]) -> list[bytes]:
        assert any(old in line for line in lines)
        return [line.replace(old, new) for line in lines]

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines[:-1], "the rows that its first line promises"),
        (lambda lines: [*lines, lines[-1]], "the rows that its first line promises"),
        (lambda lines: [*lines, b"[1]\n"], "not a JSON object"),
        (lambda lines: [*lines, b'{"type": "x"}\n'], "its type is 'x'"),
        (lambda lines: [*lines, b'{"type": "row", "table": "x", "row": {}}\n'], "cannot be read"),
        (lambda lines: [*lines, b'{"type": "row"}\n'], "is missing"),
        (lambda lines: [*lines, b'{"type": NaN}\n'], "not JSON"),
        (lambda lines: [*lines, b'"\xff"\n'], "not UTF-8"),
        (swapped(b'"elapsed_ms": 10.0', b'"elapsed_ms": "10"'), "cannot be read"),
        (swapped(b'"elapsed_ms": 10.0', b'"elapsed_ms": true'), "wrong type"),
        (swapped(b'"index": 0', b'"index": 99999999999'), "cannot be read"),
        (swapped(b'"t0.0 "', b'"\\ud83d"'), "cannot be read"),
        (swapped(b'"depth": 1,', b'"depth": 1, "more": 2,'), "no column 'more'"),
        (swapped(b'"origin": "accepted"', b'"origin": "stolen"'), "says 'stolen'"),
    ],
)
def test_lines_that_make_no_sense(
    empty: Store, exported: Path, tmp_path: Path, change: Any, says: str
) -> None:
    refused(empty, relined(exported, tmp_path / "f.jsonl", change), says)


def test_lines_that_were_cut_or_changed(empty: Store, exported: Path, tmp_path: Path) -> None:
    content = (exported / "runs.jsonl").read_bytes()
    cut, changed, longer = tmp_path / "cut", tmp_path / "changed", tmp_path / "longer"
    cut.write_bytes(content[: content.rindex(b'{"type": "end"')])
    changed.write_bytes(content.replace(b"t0.0", b"t0.9", 1))
    longer.write_bytes(content + b"{}\n")
    refused(empty, cut, "it is cut off")
    refused(empty, changed, "its SHA-256 differs")
    refused(empty, longer, "more follows")


def test_a_line_without_end(empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_read, "LINE_BYTES", 1000)
    path = tmp_path / "long.jsonl"
    path.write_bytes(b'{"specviz": "' + b"x" * 5000)
    refused(empty, path, "longer than")


def test_other_rows_under_an_id_that_is_here(store: Store, exported: Path, tmp_path: Path) -> None:
    import_file(store, exported / "all.zip")
    before = store.read(frame_of, "SELECT * FROM runs ORDER BY run_id").to_csv()
    changes = (
        with_rows("runs", valued("max_tokens", 7)),
        with_rows("k_step_times", valued("step_ms", 7.0)),
    )
    for index, change in enumerate(changes):
        path = rewritten(exported / "all.zip", tmp_path / f"{index}.zip", change)
        with pytest.raises(UsageError, match="is in the database already with other rows"):
            import_file(store, path)
    assert store.read(frame_of, "SELECT * FROM runs ORDER BY run_id").to_csv() == before


def test_labels_are_refused_for_an_export_of_specviz(empty: Store, exported: Path) -> None:
    with pytest.raises(UsageError, match="leave --method, --k and --name out"):
        import_file(empty, exported / "runs.zip", ImportLabels(k=3))
