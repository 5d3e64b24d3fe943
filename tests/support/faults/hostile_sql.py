"""Hostile statements of every kind for users' SQL: what reads too much, and what takes too much.

Those of `tests/unit/store/sql` and more: every relation that must not be read in every place where
SQL takes one, and expressions, plans and aggregates that grow without end.
"""

from __future__ import annotations

from tests.support.sql.hostile.bombs import BOMBS
from tests.support.sql.hostile.statements import REFUSED

FORBIDDEN = {
    "duckdb_databases()": "path",
    "duckdb_secrets()": "secret_string",
    "duckdb_settings()": "value",
    "duckdb_logs()": "message",
    "sqlite_master": "sql",
    "pg_catalog.pg_shadow": "passwd",
    "pg_catalog.pg_settings": "setting",
    '"__ducklake_metadata_lake".pg_catalog.pg_shadow': "passwd",
    "__ducklake_metadata_lake.public.ducklake_metadata": "value",
    "postgres_query('__ducklake_metadata_lake', 'SELECT passwd FROM pg_shadow')": "passwd",
    "'/etc/passwd'": "column0",
    "read_text('/proc/self/environ')": "content",
    "read_text('{folder}/secret.txt')": "content",
    "information_schema.schemata": "schema_name",
}
"""Relations, each with a column of it."""

PLACES = (
    "FROM {r}",
    "SELECT (SELECT max({c}) FROM {r})",
    "WITH x AS (FROM {r}) FROM x",
    "WITH x AS NOT MATERIALIZED (SELECT {c} FROM {r}) SELECT a.{c} FROM x a, x b",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t, {r} WHERE n < 2) FROM t",
    "FROM histogram_values({r}, {c}, technique := 'sample')",
    "FROM histogram({r}, {c})",
    "FROM histogram_values($${r}$$, {c})",
    "FROM histogram($${r}$$, {c}, technique := 'sample')",
    "FROM histogram_values(runs, (SELECT max({c}) FROM {r}))",
    "FROM query_table($${r}$$)",
    "FROM query($$FROM {r}$$)",
    "FROM json_execute_serialized_sql(json_serialize_sql($$FROM {r}$$))",
    "EXPLAIN ANALYZE SELECT {c} FROM {r}",
    "DESCRIBE FROM {r}",
    "SUMMARIZE FROM {r}",
    "FROM runs WHERE EXISTS (FROM {r})",
    "FROM runs WHERE run_id IN (SELECT {c}::VARCHAR FROM {r})",
    "FROM runs, LATERAL (SELECT {c} FROM {r})",
    "FROM runs POSITIONAL JOIN {r}",
    "SELECT '' AS {c} UNION ALL BY NAME SELECT {c}::VARCHAR FROM {r}",
    "SELECT list_transform([1], lambda x: (SELECT max({c}) FROM {r}))",
    "SELECT 1 ORDER BY (SELECT max({c}) FROM {r})",
    "FROM (PIVOT {r} ON {c} IN ('a') USING count(*))",
    "FROM (UNPIVOT (SELECT {c}::VARCHAR AS a FROM {r}) ON a)",
    "SELECT error((SELECT string_agg({c}::VARCHAR, ',') FROM {r}))",
    "SELECT (SELECT string_agg({c}::VARCHAR, ',') FROM {r})::INTEGER",
    "SELECT unnest((SELECT list({c}) FROM {r}))",
    "SELECT struct_pack(a := (SELECT max({c}) FROM {r}))",
    "SELECT max(k) FILTER (WHERE (SELECT max({c}) FROM {r}) IS NOT NULL) FROM runs",
    "SELECT sum(k) OVER (PARTITION BY (SELECT max({c}) FROM {r})) FROM runs",
    "FROM {r} TABLESAMPLE 100%",
)

FORBIDDEN_READS = [
    place.replace("{r}", relation).replace("{c}", column)
    for relation, column in FORBIDDEN.items()
    for place in PLACES
]

_DOUBLED = ", ".join(
    f"a{n + 1} AS (SELECT x.n FROM a{n} x JOIN a{n} y USING (n))" for n in range(39)
)
_LAYERS = ", ".join(f"a{n + 1} AS ({' UNION ALL '.join([f'FROM a{n}'] * 9)})" for n in range(9))
_COLUMNS = ", ".join(f"n % {k + 2} AS c{k}" for k in range(24))

PLANS = [
    f"WITH a0 AS (SELECT 1 AS n), {_DOUBLED} SELECT count(*) FROM a39",
    f"WITH a0 AS (SELECT 1 AS n), {_DOUBLED} SELECT (SELECT count(*) FROM a39)",
    f"EXPLAIN WITH a0 AS (SELECT 1 AS n), {_LAYERS} FROM a9",
    f"FROM (WITH a0 AS (FROM runs), {_LAYERS} FROM a9)",
    f"SELECT count(*) FROM (SELECT {_COLUMNS} FROM range(1000) t(n)) GROUP BY CUBE "
    f"({', '.join(f'c{k}' for k in range(24))})",
    f"SELECT 1 FROM {', '.join(f'runs r{n}' for n in range(300))} WHERE "
    + " AND ".join(f"r{n}.run_id = r{n + 1}.run_id" for n in range(299)),
    "SELECT 1 FROM runs WHERE " + " OR ".join(f"k = {n} AND depth_{n} = 1" for n in range(400)),
    "SELECT " + ", ".join(f"(SELECT max(k) FROM runs WHERE k < {n})" for n in range(300)),
    "SELECT * FROM range(1000000) a NATURAL JOIN range(1000000) b ORDER BY hash(a.range)"
    + "".join(f", hash(a.range + {n})" for n in range(300)),
]

STRINGS = [
    f"SELECT {call}"
    for call in (
        "jaccard(repeat('ab', 50000000), repeat('ba', 50000000))",
        "hamming(repeat('a', 900000000), repeat('b', 900000000))",
        "jaro_similarity(repeat('a', 3000000), repeat('a', 3000000) || 'b')",
        "levenshtein(repeat('ab', 900000), repeat('ba', 900000)) FROM range(9)",
        "replace(repeat('a', 20000000), 'a', 'bbbbbbbbbbbbbbbbbbbb')",
        "translate(repeat('a', 100000000), 'a', 'é')",
        "reverse(repeat('é', 300000000))",
        "upper(repeat('ß', 300000000))",
        "hex(repeat('a', 900000000))",
        "base64(repeat('a', 900000000)::BLOB)",
        "string_split(repeat('a,', 100000000), ',')",
        "regexp_extract_all(repeat('a', 20000000), 'a')",
        "regexp_split_to_array(repeat('ab', 20000000), 'b')",
        "regexp_matches(repeat('a', 100000000), '(a|aa)*b')",
        "regexp_full_match(repeat('a', 1000000), '((a{0,50}){0,50}){0,20}')",
        "strftime(TIMESTAMP '2026-01-01', repeat('%A', 50000000))",
        "strptime(repeat('1', 100000000), repeat('%d', 50000000))",
        "format(repeat('{}', 1000000), 1)",
        "format('{:>1900000000}{:>1900000000}', 1, 2)",
        "printf('%1900000000s%1900000000s', 'a', 'b')",
        "concat_ws(repeat('x', 1000000), repeat('y', 1000000), repeat('z', 900000000))",
        "array_to_string(range(30000000), repeat('-', 1000))",
        "json_extract(repeat('{\"a\":', 20000000), '$.a')",
        "json_structure(concat('[', repeat('1,', 50000000), '1]'))",
        "md5(repeat('x', 2000000000)) || sha256(repeat('y', 2000000000))",
        "bar(1, 0, 1, 1000000000)",
        "to_base(9223372036854775807, 2, 2147483647)",
        "lpad('x', 2147483647, 'y')",
        "repeat('x', 2147483647) || repeat('x', 2147483647)",
        "repeat(repeat('x', 100000), 100000)",
        "url_encode(repeat('é', 300000000))",
        "(repeat('1', 100000000))::DOUBLE",
        "bitstring('1', 2147483647) | bitstring('1', 2147483647)",
    )
]

LISTS = [
    f"SELECT {call}"
    for call in (
        "list_aggregate(range(300000000), 'histogram')",
        "list_aggregate(range(300000000), 'string_agg', ',')",
        "list_reduce(range(300000000), lambda x, y: x + y)",
        "list_reduce(['a' FOR x IN range(10000)], lambda x, y: x || x)",
        "list_sort(range(500000000), 'DESC')",
        "list_distinct(range(300000000))",
        "list_zip(range(300000000), range(300000000))",
        "list_filter(range(500000000), lambda x: x < 0)",
        "list_transform(range(3000), lambda x: list_transform(range(3000), lambda y: range(3000)))",
        "list_cosine_similarity(range(300000000)::DOUBLE[], range(300000000)::DOUBLE[])",
        "list_resize([1], 4000000000)",
        "list_slice(range(500000000), 1, 400000000)",
        "list_intersect(range(100000000), range(100000000))",
        "list_grade_up(range(300000000))",
        "map(range(100000000), range(100000000))",
        "map_from_entries(list_zip(range(100000000), range(100000000)))",
        "generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9999-12-31', INTERVAL 1 SECOND)",
        "flatten([range(100000000), range(100000000), range(100000000)])",
        "unnest([range(1000000) FOR x IN range(100000)], recursive := true)",
        "to_json(range(300000000))",
        "json_array(range(300000000), range(300000000))",
        "[[[z FOR z IN range(2000)] FOR y IN range(2000)] FOR x IN range(2000)]",
    )
]

ROWS = [
    f"{sql} FROM range(1000000000000) t(n)"
    for sql in (
        "SELECT mode(n)",
        "SELECT quantile_disc(n, [0.1, 0.5, 0.9])",
        "SELECT count(DISTINCT md5(n::VARCHAR))",
        "SELECT arg_max(n, hash(n), 1000000)",
        "SELECT approx_top_k(n, 1000000)",
        "SELECT reservoir_quantile(n, 0.5, 2000000000)",
        "SELECT entropy(n)",
        "SELECT list(n ORDER BY hash(n))",
        "SELECT map_from_entries(list((n, n)))",
        "SELECT bitstring_agg(n, 0, 100000000000)",
        "SELECT string_agg(repeat('x', 1000), ',')",
        "SELECT first_value(n) OVER (ORDER BY hash(n) ROWS BETWEEN 1e9::BIGINT PRECEDING AND "
        "1e9::BIGINT FOLLOWING)",
        "SELECT n, lag(n, 1000000000) OVER (ORDER BY n)",
        "SELECT median(n) OVER (ORDER BY n ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING)",
        "SELECT DISTINCT ON (n) n",
        "SELECT n, repeat('x', n::INT % 100000) ORDER BY 2, 1",
    )
]

MEMORY_BOMBS = [
    "SELECT length(repeat('x', 10000000 + n)) FROM range(2048) a(n)",
    "SELECT list(n) FROM range(1000000000000) a(n)",
    "SELECT list_aggregate(range(100000000), 'histogram')",
    "SELECT list_transform(range(100000), lambda x: repeat('x', 100000))",
    "SELECT [[y FOR y IN range(100000)] FOR x IN range(100000)]",
    "SELECT repeat('x', 4000000000)",
    "SELECT printf('%2000000000d', 1)",
    "SELECT regexp_replace(repeat('a', 100000), 'a', repeat('b', 100000), 'g')",
    "SELECT map(range(100000000), range(100000000))",
    "SELECT cast(repeat('[', 30000000) AS JSON)",
    "SELECT string_agg(n::VARCHAR, ',') FROM range(1000000000000) a(n)",
    "WITH RECURSIVE t AS (SELECT [1] AS l UNION ALL SELECT l || l FROM t) SELECT max(len(l)) "
    "FROM t",
]

READS = {**REFUSED, "forbidden reads": FORBIDDEN_READS}
TAKES = {**BOMBS, "plans": PLANS, "strings": STRINGS, "lists": LISTS, "rows": ROWS}
