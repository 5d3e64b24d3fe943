"""Exports for spreadsheets: a zip of one CSV per table. They do not come back: types are lost.

A cell that a spreadsheet would take for a formula (it begins with = + - @, a tab or a carriage
return) begins with an apostrophe instead; lists and structures are JSON; NULL is an empty cell.
https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import IO, Any

from duckdb import DuckDBPyConnection

from specviz.store.exchange.exported_tables import EXPORTED_TABLES
from specviz.store.exchange.lines import strict
from specviz.store.exchange.manifest import FileEntry, Manifest, manifest_of
from specviz.store.exchange.selection import Selection, as_dicts, rows

KIND = "csv"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_csv(cursor: DuckDBPyConnection, selection: Selection, path: Path) -> Manifest:
    """Write the zip. Raises OSError."""
    tables = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in EXPORTED_TABLES:
            order = f"ORDER BY {', '.join(table.key)}"
            found = as_dicts(rows(cursor, table, selection, order))
            if (first := next(found, None)) is None:
                continue
            with archive.open(f"{table.name}.csv", "w", force_zip64=True) as file:
                tables[table.name] = FileEntry(_write(file, chain([first], found)))
        manifest = manifest_of(KIND, selection, tables)
        archive.writestr("manifest.json", json.dumps(manifest.to_dict(), indent=1))
    return manifest


def _write(file: IO[bytes], found: Iterable[dict[str, Any]]) -> int:
    """The rows under their names; returns how many.

    In UTF-8 with a byte order mark: without it, spreadsheets do not take the text as UTF-8.
    """
    count = 0
    with io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        writer = csv.writer(text)
        for row in found:
            if not count:
                writer.writerow(row)
            writer.writerow([cell(value) for value in row.values()])
            count += 1
    return count


def cell(value: Any) -> Any:
    """A value as a spreadsheet may see it."""
    value = strict(value)
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
