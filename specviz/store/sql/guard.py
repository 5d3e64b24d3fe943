"""Whether a user's SQL only reads the store: decided on DuckDB's own parse, never on its text.

One statement, a SELECT in every part, of tables and functions that are on a list. Nothing runs
here except the parser.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection, StatementType

from specviz.analysis.text import shortened, terminal_text
from specviz.errors import UsageError
from specviz.store.quoting import literal
from specviz.store.sql.names import OF_A_TABLE, SHOWN, Names

MAX_CHARACTERS = 20_000
MAX_NESTING = 6
"""Subqueries and lambdas in one another: DuckDB's binder takes exponential time, uninterrupted."""

MAX_EXPANDED = 20_000
"""Nodes of a select list after an alias is put in place of its name, again and again."""

MAX_RELATIONS = 500
"""Tables in FROM once every WITH is put in place of its name, as DuckDB does while it plans."""

READS = "SELECT, FROM, WITH, VALUES, DESCRIBE, SUMMARIZE, SHOW TABLES or EXPLAIN"

QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
SOURCES = frozenset(
    "EMPTY BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST SHOW_REF PIVOT".split()
)
SOURCE_KEYS = ("from_table", "left", "right", "source")

_EXPLAIN = re.compile(
    r"\s*EXPLAIN\b(\s+ANALYZE\b|\s*\(\s*(ANALYZE|FORMAT)\b[\w\s,]*\))?", re.IGNORECASE
)

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the tree: the WITH names in sight, and how deep in subqueries and lambdas."""

    visible: frozenset[str] = frozenset()
    nesting: int = 0


def checked(cursor: DuckDBPyConnection, sql: str) -> str:
    """The one statement to execute. Raises UsageError with the reason if it may not run."""
    check_text(sql)
    try:
        statements = cursor.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(f"This is not SQL that DuckDB can parse: {_said(str(error))}.") from error
    if len(statements) != 1:
        # PIVOT without IN is two statements: the first one makes a type
        raise UsageError(
            "Give exactly one statement (a PIVOT names its values: PIVOT … ON column IN (…))."
        )
    kind, explain = statements[0].type, ""
    if kind == StatementType.EXPLAIN and (found := _EXPLAIN.match(sql)):
        explain, sql = found[0], sql[found.end() :]
    elif kind != StatementType.SELECT:
        raise UsageError(f"{kind.name} is refused, because queries only read: use {READS}.")
    names = Names(cursor)
    for statement in _parsed(cursor, sql):
        _check(statement, names)
        _check_size(statement)
    return explain + sql


def check_text(sql: str) -> None:
    """What can be said without a parser. Raises UsageError."""
    if not sql.strip():
        raise UsageError(f"There is no statement: use {READS}.")
    if len(sql) > MAX_CHARACTERS:
        raise UsageError(f"The statement is longer than {MAX_CHARACTERS:,} characters: shorten it.")
    if "\0" in sql:  # DuckDB would parse what is before it only
        raise UsageError("The statement has a NUL character: take it out.")
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise UsageError("The statement has half a character: write it as valid text.") from error


def _parsed(cursor: DuckDBPyConnection, sql: str) -> list[Node]:
    """DuckDB's syntax tree, which it gives for SELECT and nothing else."""
    # as a literal: for a parameter DuckDB would import pandas, which takes a second
    row = cursor.execute(f"SELECT json_serialize_sql({literal(sql)})").fetchone()
    assert row is not None
    try:
        found = json.loads(row[0])
    except RecursionError as error:
        raise UsageError("The statement is nested too deeply: break it up with WITH.") from error
    if found["error"]:
        if found["error_type"] == "not implemented":
            raise UsageError(f"This statement is refused, because queries only read: use {READS}.")
        raise UsageError(f"This is not SQL that DuckDB can parse: {_said(found['error_message'])}.")
    if len(found["statements"]) != 1:
        raise UsageError("Give exactly one statement.")
    return list(found["statements"])


def _check(statement: Node, names: Names) -> None:
    left: list[tuple[Any, Place]] = [(statement, Place())]
    while left:
        value, place = left.pop()
        if isinstance(value, list):
            left += [(one, place) for one in value]
        elif isinstance(value, dict):
            left += _check_node(value, place, names)


def _check_node(node: Node, place: Place, names: Names) -> Iterator[tuple[Any, Place]]:
    """Refuse this node, or give what is below it."""
    kind = node.get("class") or node.get("type")
    if kind == "CONSTANT":
        return
    for key in SOURCE_KEYS:
        _check_source(node.get(key))
    if kind in ("SUBQUERY", "LAMBDA") and "class" in node:
        place = replace(place, nesting=place.nesting + 1)
        if place.nesting > MAX_NESTING:
            raise UsageError(
                f"Subqueries and lambdas may be nested {MAX_NESTING} deep: break it up with WITH."
            )
    elif kind == "PARAMETER":
        raise UsageError("The statement has a parameter: write the value in its place.")
    elif kind == "FUNCTION":
        _check_function(node, names)
    elif kind == "BASE_TABLE":
        _check_table(node, place, names)
    elif kind == "SHOW_REF":
        _check_show(node)
    elif kind == "TABLE_FUNCTION":
        _check_table_function(node["function"], names)
        node = {**node, "function": node["function"]["children"]}
    if "cte_map" in node:
        _check_query(node)
        for entry in node["cte_map"]["map"]:
            name, body = str(entry["key"]).lower(), entry["value"]
            recursive = body["query"]["node"]["type"] == "RECURSIVE_CTE_NODE"
            extended = replace(place, visible=place.visible | {name})
            yield body, extended if recursive else place
            place = extended
        node = {key: value for key, value in node.items() if key != "cte_map"}
    yield from ((value, place) for value in node.values())


def _check_query(node: Node) -> None:
    if node["type"] not in QUERIES:
        raise UsageError(f"This statement is refused, because queries only read: use {READS}.")
    if node["type"] == "SELECT_NODE" and _expanded(node["select_list"]) > MAX_EXPANDED:
        raise UsageError(
            "The columns refer to one another so often that the statement explodes: "
            "name intermediate results with WITH."
        )


def _check_source(value: Any) -> None:
    """A kind of FROM that this guard does not know might be anything."""
    is_source = isinstance(value, dict) and not {"class", "cte_map"} & value.keys()
    if is_source and value.get("type") not in SOURCES:
        raise UsageError(f"FROM cannot be {value.get('type')}: read tables of the store.")


def _check_function(node: Node, names: Names) -> None:
    name = str(node["function_name"]).lower()
    if node["schema"] not in ("", "main") or node["catalog"] not in ("", "system"):
        raise UsageError(f"Call {_quoted(name)} without a schema before its name.")
    if name not in names.functions:
        raise UsageError(
            f"The function {_quoted(name)} may not be called in a query"
            f"{_nearest(name, names.functions, 0.8)}"
        )


def _check_table_function(node: Node, names: Names) -> None:
    name = str(node["function_name"]).lower()
    if name not in names.table_functions or node["schema"] not in ("", "main") or node["catalog"]:
        raise UsageError(
            f"The table function {_quoted(name)} is refused, because queries read only "
            "the store: use its tables, unnest, range or json_each."
        )
    if name in OF_A_TABLE and not _names_a_table(node, names):
        raise UsageError(f"{_quoted(name)} takes the plain name of a table of the store first.")


def _names_a_table(node: Node, names: Names) -> bool:
    """DuckDB takes the argument's text as the name of any relation there is."""
    first, *others = node["children"] or [{}]
    if first.get("class") != "COLUMN_REF" or first.get("alias"):
        return False
    if any(str(other.get("alias")).lower() == "source" for other in others):
        return False
    (name, *more) = first["column_names"]
    return not more and str(name).lower() in names.tables


def _check_size(statement: Node) -> None:
    """DuckDB plans a WITH as often as it is named, and those in it as often as that."""
    try:
        found = _relations(statement, {})
    except RecursionError as error:
        raise UsageError("The statement is nested too deeply: break it up.") from error
    if found > MAX_RELATIONS:
        raise UsageError(
            f"The statement reads more than {MAX_RELATIONS} tables, each WITH counted as often as "
            "it is named: name them less often."
        )


def _relations(value: Any, sizes: Mapping[str, int]) -> int:
    """Tables below a node; `sizes` has how many the WITH names in sight hold."""
    if isinstance(value, list):
        return sum(_relations(one, sizes) for one in value)
    if not isinstance(value, dict):
        return 0
    found = 0
    if "cte_map" in value:
        sizes = dict(sizes)
        for entry in value["cte_map"]["map"]:
            name, body = str(entry["key"]).lower(), entry["value"]
            is_recursive = body["query"]["node"]["type"] == "RECURSIVE_CTE_NODE"
            inside = {**sizes, name: 0} if is_recursive else sizes
            sizes[name] = min(_relations(body, inside), MAX_RELATIONS + 1)
            found = max(found, sizes[name])
            if found > MAX_RELATIONS:
                return found
    elif value.get("type") == "BASE_TABLE" and "class" not in value:
        is_plain = not value["catalog_name"] and not value["schema_name"]
        found = 1 + (sizes.get(str(value["table_name"]).lower(), 0) if is_plain else 0)
    below = (_relations(one, sizes) for key, one in value.items() if key != "cte_map")
    return found + sum(below) if "cte_map" not in value else max(found, sum(below))


def _check_table(node: Node, place: Place, names: Names) -> None:
    catalog, schema, table = (
        str(node[key]).lower() for key in ("catalog_name", "schema_name", "table_name")
    )
    if not catalog and not schema and table in place.visible:
        return
    if node["at_clause"] or not names.may_read(catalog, schema, table):
        shown = ".".join(part for part in (catalog, schema, table) if part)
        raise UsageError(
            f"The store has no table {_quoted(shown)}{_nearest(table, names.tables, 0.6)}"
        )


def _check_show(node: Node) -> None:
    if node["table_name"] not in SHOWN or node["schema_name"] or node["catalog_name"]:
        raise UsageError("SHOW takes TABLES, ALL TABLES or one table; nothing else.")


def _expanded(select_list: list[Node]) -> int:
    """Nodes once every alias that a later column names is put in its place, as DuckDB does."""
    sizes: dict[str, int] = {}
    total = 0
    for column in select_list:
        size = 0
        left: list[Any] = [column]
        while left:
            value = left.pop()
            if isinstance(value, list):
                left += value
            elif isinstance(value, dict):
                named = value.get("column_names")
                size += sizes.get(str(named[-1]).lower(), 1) if named else 1
                left += value.values()
        if column.get("alias"):
            sizes[str(column["alias"]).lower()] = size
        total += size
        if total > MAX_EXPANDED:
            break
    return total


def _nearest(name: str, known: frozenset[str], likeness: float) -> str:
    found = difflib.get_close_matches(name, known, n=1, cutoff=likeness)
    return f": did you mean {found[0]}?" if found else "."


def _quoted(name: str) -> str:
    return f'"{shortened(terminal_text(name), 60)}"'


def _said(text: str) -> str:
    line = text.strip().split("\n")[0].removeprefix("Parser Error: ")
    return shortened(terminal_text(line.removesuffix(".")), 300)
