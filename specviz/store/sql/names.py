"""What a user's query may name: tables of the store, and functions that only compute.

An allow list: a table function that is not here, and a scalar function with an effect or an answer
about the machine, is refused even where DuckDB has it.
"""

from __future__ import annotations

from functools import cache, cached_property

from duckdb import DuckDBPyConnection

TABLE_FUNCTIONS = frozenset(
    "unnest range generate_series repeat repeat_row json_each json_tree "
    "histogram histogram_values duckdb_tables duckdb_columns".split()
)
"""Those that read no file, no network, no settings and no secrets."""

OF_A_TABLE = frozenset({"histogram", "histogram_values"})
"""Table macros whose first argument is the name of a relation."""

CATALOG_VIEWS = frozenset({"duckdb_tables", "duckdb_columns"})
INFORMATION_SCHEMA = frozenset({"tables", "columns"})
MAIN_SCHEMAS = frozenset({"", "main"})
SHOWN = frozenset({"", '"tables"', "__show_tables_expanded"})
"""What SHOW and DESCRIBE may show: one query's columns, or which tables there are."""

_SYNTAX = frozenset("unnest grouping count_star row rowid ordinality construct_array".split())
"""Functions that only the parser knows."""

_HARMLESS = frozenset({"random", "uuid", "gen_random_uuid", "uuidv4", "uuidv7", "error"})
"""Of those that DuckDB calls volatile."""

_ABOUT_THE_MACHINE = (
    "current_setting getvariable getenv in_search_path json_serialize_plan json_serialize_sql "
    "json_deserialize_sql parse_duckdb_log_message get_block_size cast_to_type stats"
).split()
_WAITING = "pg_sleep sleep_ms".split()
_REFUSED = frozenset([*_ABOUT_THE_MACHINE, *_WAITING])
_REFUSED_PREFIXES = ("pg_", "has_", "inet_", "__internal", "st_", "icu_collate")


class Names:
    """What the database of a cursor offers to queries, looked up once and only if it is asked for.

    All names are in lower case. Reading them raises duckdb.Error.
    """

    def __init__(self, cursor: DuckDBPyConnection) -> None:
        self._cursor = cursor

    @cached_property
    def database(self) -> str:
        ((name,),) = self._cursor.execute("SELECT current_database()").fetchall()
        return str(name).lower()

    @cached_property
    def tables(self) -> frozenset[str]:
        return self._all(
            "SELECT table_name FROM duckdb_tables() "
            "WHERE database_name = current_database() AND NOT internal"
        )

    @cached_property
    def functions(self) -> frozenset[str]:
        """Those that may be called in an expression."""
        return allowed_functions() - self._brought_along

    @cached_property
    def table_functions(self) -> frozenset[str]:
        """Those that may be called in FROM."""
        return TABLE_FUNCTIONS - self._brought_along

    @cached_property
    def _brought_along(self) -> frozenset[str]:
        """Macros of the file: they may do anything, and hide DuckDB's functions of their name."""
        return self._all("SELECT function_name FROM duckdb_functions() WHERE NOT internal")

    def may_read(self, catalog: str, schema: str, table: str) -> bool:
        """Whether a name that is no WITH of the query itself is a table that may be read."""
        if catalog not in ("", self.database):
            return False
        if schema == "information_schema":
            return table in INFORMATION_SCHEMA
        if schema not in MAIN_SCHEMAS and schema != self.database:
            return False
        return table in self.tables or table in CATALOG_VIEWS

    def _all(self, sql: str) -> frozenset[str]:
        return frozenset(str(name).lower() for (name,) in self._cursor.execute(sql).fetchall())


@cache
def allowed_functions() -> frozenset[str]:
    """DuckDB's own that compute and do nothing else."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        rows = connection.execute(
            "SELECT function_name FROM duckdb_functions() WHERE internal "
            "AND function_type IN ('scalar', 'aggregate', 'macro') "
            "AND NOT coalesce(has_side_effects, false) "
            # a macro that reads a relation reads the catalog
            "AND NOT coalesce(contains(macro_definition, 'SELECT '), false)"
        ).fetchall()
    found = {str(name).lower() for (name,) in rows}
    allowed = {name for name in found if not name.startswith(_REFUSED_PREFIXES)} - _REFUSED
    return frozenset(allowed | _HARMLESS | _SYNTAX)
