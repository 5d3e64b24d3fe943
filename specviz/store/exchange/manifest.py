"""The header of an export, and whether this program can import it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import specviz.store.migrations as migrations
from specviz import __version__
from specviz.errors import UsageError
from specviz.store.exchange.exported_tables import BY_NAME
from specviz.store.exchange.selection import Selection

FORMAT = 1
"""Increases when an older specviz can no longer read the file."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One table's file: rows, length in bytes and SHA-256 (0 and empty in a file of lines)."""

    rows: int
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`kind` is what the export is written as; `migrations` name the schema of its tables."""

    kind: str
    tables: dict[str, FileEntry]
    ids: dict[str, list[str]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    format: int = FORMAT
    migrations: tuple[str, ...] = field(default_factory=lambda: tuple(migrations.names()))
    specviz_version: str = __version__
    exported_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())

    def to_dict(self) -> Json:
        """JSON-ready; `specviz` is the kind, so that the file begins with what it is."""
        values = asdict(self)
        return {"specviz": values.pop("kind"), **values}


def manifest_of(kind: str, selection: Selection, tables: dict[str, FileEntry]) -> Manifest:
    ids = {
        "runs": list(selection.runs),
        "benchmarks": list(selection.benchmarks),
        "elsewhere": list(selection.tool_results),
    }
    return Manifest(kind, tables, ids, selection.left_out)


def manifest_from(data: object, kind: str) -> Manifest:
    """What `Manifest.to_dict` wrote. Raises UsageError for anything else and a newer specviz."""
    if not isinstance(data, dict) or data.get("specviz") != kind:
        raise UsageError(f"This is not a {kind} export of specviz: it does not say so.")
    version = data.get("format")
    if type(version) is int and version > FORMAT:
        raise UsageError(
            f"The file was exported by a newer specviz (format {version}, this one reads "
            f"{FORMAT}): update specviz."
        )
    names = _texts(data.get("migrations"))
    if version != FORMAT or not names:
        raise UsageError("The file has no format and schema: it is damaged.")
    unknown = set(names) - set(migrations.names())
    if unknown:
        raise UsageError(
            f"The file was exported by a newer specviz (it knows {min(unknown)[:80]}): "
            "update specviz."
        )
    return Manifest(kind, _entries(data.get("tables")), format=version, migrations=tuple(names))


def _entries(data: object) -> dict[str, FileEntry]:
    if not isinstance(data, dict):
        raise UsageError("The file does not list its tables: it is damaged.")
    entries = {}
    for table, found in data.items():
        if table not in BY_NAME:
            raise UsageError(f"The file has a table {table[:80]!r} that specviz does not know.")
        values = found if isinstance(found, dict) else {}
        entry = FileEntry(values.get("rows", -1), values.get("bytes", 0), values.get("sha256", ""))
        counts = (entry.rows, entry.bytes)
        if any(type(n) is not int or n < 0 for n in counts) or not isinstance(entry.sha256, str):
            raise UsageError(f"The entry of table {table} in the file cannot be read.")
        entries[table] = entry
    return entries


def _texts(value: object) -> list[str]:
    listed = value if isinstance(value, list) else []
    return listed if all(isinstance(one, str) for one in listed) else []
