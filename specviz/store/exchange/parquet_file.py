"""Exports as Parquet: a file per table and `manifest.json`, in one zip or in a folder."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.exchange.expansion import check_json, check_room, check_tables, measuring
from specviz.store.exchange.exported_tables import EXPORTED_TABLES
from specviz.store.exchange.manifest import FileEntry, Manifest, manifest_from, manifest_of
from specviz.store.exchange.selection import Selection, rows
from specviz.store.exchange.staging import Staged, check_file

KIND = "parquet"
MANIFEST = "manifest.json"
MANIFEST_BYTES = 64 * 1024 * 1024
"""The largest manifest: it lists ids."""

CHUNK = 1024 * 1024
COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What zip programs write; LZMA takes as much memory as the file asks for."""

UNPACKED_TIMES = 10
UNPACKED_SPARE = 64 * 1024 * 1024
"""What is exported is stored as it is; a zip that was packed again is a little smaller."""

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)


def write_folder(cursor: DuckDBPyConnection, selection: Selection, folder: Path) -> Manifest:
    """Write the files into an empty folder. Tables without a selected row get none."""
    tables = {}
    for table in EXPORTED_TABLES:
        path = folder / f"{table.name}.parquet"
        count = _write(rows(cursor, table, selection), path)
        if count:
            tables[table.name] = FileEntry(count, path.stat().st_size, sha256_of(path))
        else:
            path.unlink()
    manifest = manifest_of(KIND, selection, tables)
    text = json.dumps(manifest.to_dict(), ensure_ascii=False, indent=1)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return manifest


def zip_folder(folder: Path, path: Path) -> None:
    """The folder's files in one zip, the manifest first; Parquet is compressed already."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(folder.iterdir(), key=lambda file: (file.name != MANIFEST, file.name)):
            archive.write(file, file.name)


def stage_folder(folder: Path) -> Staged:
    """A folder as `write_folder` leaves it. Raises UsageError for anything else."""
    try:
        text = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise UsageError(f"{folder} holds no {MANIFEST}: it is no export of specviz.") from error
    manifest = _manifest(text)
    return _staged(manifest, folder, sum(entry.bytes for entry in manifest.tables.values()))


def stage_zip(path: Path, folder: Path) -> Staged:
    """Unpack a zip into an empty folder, as far as its manifest promises and no further.

    Raises UsageError for anything that `zip_folder` did not write.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _unpacked(archive, folder, path.stat().st_size)
    except DAMAGE as error:
        raise UsageError(f"The zip is damaged ({str(error)[:120]}).") from error
    return _staged(manifest, folder, path.stat().st_size)


def _unpacked(archive: zipfile.ZipFile, folder: Path, file_bytes: int) -> Manifest:
    names = archive.namelist()
    if MANIFEST not in names:
        raise UsageError(f"The zip holds no {MANIFEST}: it is no export of specviz.")
    _check_packing(archive.getinfo(MANIFEST))
    with archive.open(MANIFEST) as file:
        manifest = _manifest(file.read(MANIFEST_BYTES + 1))
    promised = {f"{table}.parquet" for table in manifest.tables}
    if sorted(names) != sorted({MANIFEST, *promised}):
        odd = sorted({*names} ^ {MANIFEST, *promised}) or [f"{names[0]} twice"]
        raise UsageError(f"The zip does not hold what its manifest lists: {odd[0][:80]!r}.")
    _check_promise(archive, manifest, file_bytes)
    check_room(folder, sum(entry.bytes for entry in manifest.tables.values()))
    for table, entry in manifest.tables.items():
        unpack(archive, f"{table}.parquet", folder / f"{table}.parquet", entry.bytes)
    return manifest


def _staged(manifest: Manifest, folder: Path, file_bytes: int) -> Staged:
    """The files in a folder that the manifest lists. Raises UsageError."""
    files = {table: folder / f"{table}.parquet" for table in manifest.tables}
    with measuring() as connection:
        for table, file in files.items():
            if not file.is_file():
                raise UsageError(f"{file.name} is missing in {folder}.")
            _check(connection, table, file, manifest.tables[table])
        check_tables(connection, files, file_bytes)
    return Staged(KIND, manifest.migrations, files)


def unpack(archive: zipfile.ZipFile, name: str, path: Path, size: int) -> None:
    """Write a member of `size` bytes to `path`, and of a larger one no more than one byte more."""
    with archive.open(name) as packed, path.open("wb") as unpacked:
        left = size
        while left >= 0 and (chunk := packed.read(min(CHUNK, left + 1))):
            left -= len(chunk)
            unpacked.write(chunk)


def _check_promise(archive: zipfile.ZipFile, manifest: Manifest, file_bytes: int) -> None:
    """What the manifest promises against the zip's own list, before anything is written."""
    members = {table: archive.getinfo(f"{table}.parquet") for table in manifest.tables}
    for table, entry in manifest.tables.items():
        if members[table].file_size != entry.bytes:
            raise _changed(members[table].filename)
    check_members([*members.values()], file_bytes)


def check_members(members: Sequence[zipfile.ZipInfo], file_bytes: int) -> None:
    """Raises UsageError for members that no writer of Parquet left in a zip of `file_bytes`."""
    for member in members:
        _check_packing(member)
    promised = sum(member.file_size for member in members)
    if promised > UNPACKED_SPARE + UNPACKED_TIMES * file_bytes:
        raise UsageError(
            f"The zip would unpack into {promised:,} bytes, although Parquet is compressed already:"
            " it is no export."
        )


def _check_packing(member: zipfile.ZipInfo) -> None:
    if member.compress_type not in COMPRESSION:
        name = member.filename[:80]
        raise UsageError(f"{name} is packed in a way that specviz does not read.")


def _manifest(text: bytes) -> Manifest:
    if len(text) > MANIFEST_BYTES:
        raise UsageError(f"{MANIFEST} is larger than {MANIFEST_BYTES >> 20} MiB.")
    check_json(text)
    try:
        return manifest_from(json.loads(text.decode()), KIND)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{MANIFEST} is not JSON in UTF-8: the export is damaged.") from error


def _check(connection: DuckDBPyConnection, table: str, file: Path, entry: FileEntry) -> None:
    if file.stat().st_size != entry.bytes or sha256_of(file) != entry.sha256:
        raise _changed(file.name)
    check_file(connection, table, file, entry.rows)


def _changed(name: str) -> UsageError:
    return UsageError(f"{name} is not as it was exported (its SHA-256 differs): export it again.")


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(reader: pa.RecordBatchReader, path: Path) -> int:
    count = 0
    with pq.ParquetWriter(path, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count
