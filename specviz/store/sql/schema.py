"""What the tables and columns of the store mean: read from the comments in the database."""

from __future__ import annotations

from dataclasses import dataclass

from duckdb import DuckDBPyConnection

_COLUMNS = """
    SELECT tables.table_name, tables.comment, columns.column_name, columns.data_type,
        columns.comment
    FROM duckdb_tables() AS tables JOIN duckdb_columns() AS columns
        USING (database_name, schema_name, table_name)
    WHERE tables.database_name = current_database() AND NOT tables.internal
        AND tables.comment IS NOT NULL
    ORDER BY table_name, column_index
"""


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """`comment` says what it holds and in which unit; empty where the database has none."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """A table with its columns in their order."""

    name: str
    comment: str
    columns: tuple[SchemaColumn, ...]


def read_schema(cursor: DuckDBPyConnection) -> list[SchemaTable]:
    """The tables that have a meaning for people, by name; that of the migrations has none."""
    tables: dict[str, tuple[str, list[SchemaColumn]]] = {}
    for table, comment, column, kind, meaning in cursor.execute(_COLUMNS).fetchall():
        _, columns = tables.setdefault(table, (comment, []))
        columns.append(SchemaColumn(column, kind, meaning or ""))
    return [
        SchemaTable(name, comment, tuple(columns)) for name, (comment, columns) in tables.items()
    ]
