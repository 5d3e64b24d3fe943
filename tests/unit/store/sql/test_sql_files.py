"""Answers as files: every value comes back, whatever it is called."""

from __future__ import annotations

import csv
import io
import json

import pyarrow.parquet as parquet
import pytest

from specviz.store import Store
from specviz.store.sql.files import as_csv, as_json, as_parquet, text_of, unique_names
from specviz.store.sql.result import SqlResult
from specviz.store.sql.sandbox import run_sql

HOSTILE = '=cmd()\n"<script>alert(1)</script>", \u202e한국어'


@pytest.fixture
def result(shared_store: Store) -> SqlResult:
    quoted = HOSTILE.replace("'", "''")
    return run_sql(
        shared_store,
        f"SELECT 1 AS n, 2 AS n, [1, 2] AS l, '{quoted}' AS \"<b>t</b>\", NULL AS missing, "
        "DATE '2026-11-01' AS day, 1e30::HUGEINT AS huge, true AS yes, INTERVAL 1 DAY AS span "
        "UNION ALL SELECT 3, NULL, NULL, '', NULL, NULL, 5, false, NULL ORDER BY 1",
    )


def test_csv(result: SqlResult) -> None:
    names, first, second = csv.reader(io.StringIO(as_csv(result).decode(), newline=""))
    assert names == ["n", "n", "l", "<b>t</b>", "missing", "day", "huge", "yes", "span"]
    assert first[:6] == ["1", "2", "[1, 2]", HOSTILE, "", "2026-11-01"]
    assert int(first[6]) == pytest.approx(1e30) and second[:4] == ["3", "", "", ""]


def test_json(result: SqlResult) -> None:
    reported = json.loads(as_json(result))
    assert reported["rows"][0][3] == HOSTILE
    assert [column["name"] for column in reported["columns"]][:2] == ["n", "n"]


def test_parquet(result: SqlResult) -> None:
    table = parquet.read_table(io.BytesIO(as_parquet(result)))
    assert table.column_names[:3] == ["n", "n (2)", "l"]
    first, second = table.to_pylist()
    assert first["<b>t</b>"] == HOSTILE and first["l"] == [1, 2] and second["l"] is None
    assert str(first["day"]) == "2026-11-01"


def test_names_and_cells() -> None:
    assert unique_names(["a", "a", "a (2)", ""]) == ["a", "a (2)", "a (2) (2)", ""]
    assert text_of(True) == "true" and text_of({"a": [1]}) == '{"a": [1]}' and text_of("x") == "x"
