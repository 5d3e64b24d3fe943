"""Small files that expand to large ones: refused before the memory or the disk is taken."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from specviz.errors import UsageError
from specviz.store import Store, migrations, open_store
from specviz.store.exchange import Format, expansion, export, import_file
from specviz.store.file import work_folder
from tests.support.store.exchange_samples import filled
from tests.support.store.guidellm_samples import report
from tests.support.store.made import made
from tests.support.store.samples import frame_of

MEGABYTE = "x" * 1_000_000


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(made(tmp_path_factory.mktemp("empty") / "runs.duckdb")) as opened:
        yield opened


def refused(store: Store, path: Path, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        import_file(store, path)
    assert says in str(caught.value), str(caught.value)
    assert store.read(frame_of, "SELECT count(*) AS n FROM runs")["n"][0] == 0


def zip_of_one_table(path: Path, content: bytes, rows: int, method: int = zipfile.ZIP_STORED,
                     **entry: Any) -> Path:  # fmt: skip
    """A zip whose manifest fits the content, but for `entry`."""
    found = {"rows": rows, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest = {"specviz": "parquet", "format": 1, "migrations": list(migrations.names()),
                "tables": {"runs": found | entry}}  # fmt: skip
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("manifest.json", json.dumps(manifest), zipfile.ZIP_STORED)
        archive.writestr("runs.parquet", content)
    return path


def parquet(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", store_schema=False, **options)
    return sink.getvalue().to_pybytes()


def repeated(text: str, times: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([text]))


def listed(text: str, times: int) -> pa.Array:
    """One row: a list of the same text."""
    token = pa.StructArray.from_arrays([repeated(text, times)], ["text"])
    return pa.ListArray.from_arrays(pa.array([0, times], pa.int32()), token)


@pytest.mark.parametrize(
    "column",
    [
        repeated(MEGABYTE, 6000),
        pytest.param(listed(MEGABYTE, 6000), marks=pytest.mark.slow),
    ],
)
def test_a_text_that_every_row_repeats(empty: Store, tmp_path: Path, column: pa.Array) -> None:
    content = parquet(pa.table({"error": column}), dictionary_pagesize_limit=1 << 27)
    assert len(content) < 50_000
    refused(empty, zip_of_one_table(tmp_path / "f.zip", content, len(column)), "would expand to")


def test_a_page_of_nothing_but_zeros(
    empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(expansion.VARIABLE, "0.05")
    table = pa.table({"error": ["\0" * 60_000_000]})
    content = parquet(table, use_dictionary=False, write_statistics=False)
    path = zip_of_one_table(tmp_path / "f.zip", content, 1)
    refused(empty, path, "set SPECVIZ_IMPORT_GIB to a higher number of GiB")


def test_a_promise_of_more_than_is_likely_is_not_unpacked(
    empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_folder, "tempfile", Nowhere(tmp_path / "work"))
    content = bytes(80_000_000)
    path = zip_of_one_table(tmp_path / "f.zip", content, 1, zipfile.ZIP_DEFLATED)
    refused(empty, path, "would unpack into 80,000,000 bytes")
    path = zip_of_one_table(tmp_path / "f.zip", content, 1, zipfile.ZIP_DEFLATED, bytes=10)
    refused(empty, path, "not as it was exported")
    path = zip_of_one_table(tmp_path / "f.zip", b"x", 1, bytes=1_500_000_000)
    refused(empty, path, "not as it was exported")


class Nowhere:
    """`tempfile` whose folders cannot take a file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder

    def gettempdir(self) -> str:
        return str(self._folder)

    def mkdtemp(self, prefix: str, dir: Path) -> str:
        made = Path(dir) / f"{prefix}full"
        made.mkdir()
        (made / "runs.parquet").mkdir()
        return str(made)


def test_a_disk_that_is_too_small(
    empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansion.shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    refused(empty, zip_of_one_table(tmp_path / "f.zip", b"PAR1", 1), "0.0 GiB free: make room")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_may_take_any_memory_to_unpack(
    empty: Store, tmp_path: Path, method: int
) -> None:
    path = zip_of_one_table(tmp_path / "f.zip", b"PAR1" * 1000, 1, method)
    refused(empty, path, "packed in a way that specviz does not read")


def test_a_zip_whose_deflate_stream_is_broken(empty: Store, tmp_path: Path) -> None:
    path = zip_of_one_table(tmp_path / "f.zip", b"PAR1" * 1000, 1, zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo("runs.parquet")
    content[member.header_offset + 30 + len("runs.parquet")] = 0xFF
    path.write_bytes(content)
    refused(empty, path, "The zip is damaged")


@pytest.mark.parametrize(
    "unit", [b"{}", *(pytest.param(unit, marks=pytest.mark.slow) for unit in (b"[] ", b"1\n"))]
)
def test_many_documents_are_refused_in_linear_time(
    empty: Store, tmp_path: Path, unit: bytes
) -> None:
    """In a time that grows with their square it would take hours: a hang."""
    path = tmp_path / "many.json"
    path.write_bytes(b"{}" + unit * 400_000)
    refused(empty, path, "of no tool that specviz reads")


def test_json_that_takes_more_memory_than_bytes(
    empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(expansion.VARIABLE, "0.01")
    path = tmp_path / "f"
    path.write_bytes(b"[" + b"[]," * 300_000 + b"[]]")
    refused(empty, path, "would expand to more than 0.0 GiB")
    path.write_bytes(b'{"specviz": ' + path.read_bytes() + b"}\n")
    refused(empty, path, "would expand to")


def test_a_guidellm_head_that_every_benchmark_would_repeat(
    empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(expansion.VARIABLE, "0.01")
    reported = report()
    reported |= {"benchmarks": reported["benchmarks"] * 10, "head": "x" * 1_000_000}
    path = tmp_path / "f.json"
    path.write_text(json.dumps(reported))
    refused(empty, path, "would expand to")


def test_a_limit_that_is_no_number(
    empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.json"
    path.write_text("{}")
    for text in ("many", "-1", "nan", "inf"):
        monkeypatch.setenv(expansion.VARIABLE, text)
        refused(empty, path, f"SPECVIZ_IMPORT_GIB must be a number of GiB, not '{text}'")


@pytest.mark.slow
def test_an_own_export_beyond_the_limit_is_taken_with_a_higher_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(made(tmp_path / "source.duckdb")) as source:
        filled(source)
        source.write(lambda cursor: cursor.execute("UPDATE runs SET note = repeat('n', 5000000)"))
        export(source, None, Format.PARQUET, tmp_path / "all.zip")
    with open_store(made(tmp_path / "target.duckdb")) as target:
        monkeypatch.setenv(expansion.VARIABLE, "0.007")
        refused(target, tmp_path / "all.zip", "would expand to more than 0.0 GiB")
        monkeypatch.delenv(expansion.VARIABLE)
        assert import_file(target, tmp_path / "all.zip").stored["run"]
