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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.store.exchange.exported_tables import EXPORTED_TABLES, ExportedTable
from specviz.store.exchange.lines import strict
from specviz.store.exchange.manifest import FileEntry, Manifest, manifest_of
from specviz.store.exchange.selection import Selection, rows

KIND = "csv"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_csv(cursor: DuckDBPyConnection, selection: Selection, path: Path) -> Manifest:
    """Write the zip. Raises OSError."""
    tables = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in EXPORTED_TABLES:
            order = f"ORDER BY {', '.join(table.key)}"
            pieces = _pieces(cursor, table, selection, order)
            count = 0
            if (first := next(pieces, None)) is None:
                continue
            with archive.open(f"{table.name}.csv", "w", force_zip64=True) as file:
                for text, num_rows in (first, *pieces):
                    file.write(text.encode())
                    count += num_rows
            tables[table.name] = FileEntry(count)
        manifest = manifest_of(KIND, selection, tables)
        archive.writestr("manifest.json", json.dumps(manifest.to_dict(), indent=1))
    return manifest


def _pieces(
    cursor: DuckDBPyConnection, table: ExportedTable, selection: Selection, order: str
) -> Iterator[tuple[str, int]]:
    """Text and number of rows batch by batch, none for a table without rows.

    The first begins with a byte order mark: without it, spreadsheets do not take the text as UTF-8.
    """
    reader = rows(cursor, table, selection, order)
    begun = False
    for batch in reader:
        if not batch.num_rows:
            continue
        text = io.StringIO()
        if not begun:
            text.write("\ufeff")
        writer = csv.writer(text)
        if not begun:
            writer.writerow(reader.schema.names)
            begun = True
        for row in batch.to_pylist():
            writer.writerow([cell(value) for value in row.values()])
        yield text.getvalue(), batch.num_rows


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
