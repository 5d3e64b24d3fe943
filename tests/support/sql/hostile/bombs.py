"""Statements that may run, and would take for ever, or all memory, or all of the disk."""

HUGE = "range(1000000000000)"
COUNT = "WITH RECURSIVE t AS (SELECT 1::HUGEINT AS n UNION ALL SELECT n + 1 FROM t)"

ENDLESS = [
    f"{COUNT} SELECT count(*) FROM t",
    f"{COUNT} SELECT * FROM t WHERE n < 0",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n FROM t) SELECT sum(n) FROM t",
    "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a), b AS (FROM a) FROM b "
    "ORDER BY n",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t, range(3)) "
    "SELECT count(*) FROM t",
    f"SELECT count(*) FROM {HUGE} a, {HUGE} b",
    f"SELECT sum(a.range * b.range) FROM {HUGE} a, {HUGE} b, {HUGE} c",
    f"SELECT * FROM {HUGE} a(n) WHERE n < 0",
    f"SELECT sum(hash(n)) FROM {HUGE} a(n)",
    f"SELECT max(md5(n::VARCHAR)) FROM {HUGE} a(n)",
    f"SELECT count(*) FROM {HUGE} a(n) WHERE regexp_matches(n::VARCHAR, '(1+)+2')",
    f"SELECT a.n FROM {HUGE} a(n) JOIN {HUGE} b(n) ON a.n + b.n = -1",
    f"SELECT a.n FROM {HUGE} a(n) SEMI JOIN {HUGE} b(n) ON a.n < b.n - 1e13",
    "FROM duckdb_columns a, duckdb_columns b, duckdb_columns c, duckdb_columns d "
    "SELECT count(*) WHERE a.column_name || b.column_name = c.column_name || d.column_name",
    "SELECT count(*) FROM generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9999-12-31', "
    "INTERVAL 1 MICROSECOND)",
    f"EXPLAIN ANALYZE SELECT count(*) FROM {HUGE} a, {HUGE} b",
    f"SUMMARIZE SELECT * FROM {HUGE} a(n)",
    f"SELECT (SELECT count(*) FROM {HUGE} a(n) WHERE n % 2 = x) FROM range(3) b(x)",
    f"SELECT count(*) FROM {HUGE} a(n) WHERE EXISTS (FROM {HUGE} b(m) WHERE m = -n)",
    f"SELECT random() FROM {HUGE} WHERE random() < 0",
    "SELECT count(*) FROM repeat('x', 1000000000000)",
    f"SELECT 1 FROM {HUGE} LIMIT 1 OFFSET 999999999999",
]

GREEDY = [
    f"SELECT n FROM {HUGE} a(n) ORDER BY hash(n)",
    f"SELECT list(n) FROM {HUGE} a(n)",
    f"SELECT string_agg(n::VARCHAR, ',') FROM {HUGE} a(n)",
    f"SELECT n, count(*) FROM {HUGE} a(n) GROUP BY n",
    f"SELECT DISTINCT md5(n::VARCHAR) FROM {HUGE} a(n)",
    f"SELECT sum(n) OVER (ORDER BY hash(n)) FROM {HUGE} a(n)",
    f"SELECT median(n) FROM {HUGE} a(n)",
    f"SELECT histogram(n) FROM {HUGE} a(n)",
    f"SELECT json_group_array(n) FROM {HUGE} a(n)",
    f"WITH x AS MATERIALIZED (SELECT n, repeat('x', 1000) FROM {HUGE} a(n)) FROM x ORDER BY 2, 1",
    "SELECT repeat('x', 4000000000)",
    "SELECT repeat(repeat(repeat('x', 10000), 10000), 10000)",
    "SELECT length(repeat('x', 10000000 + n)) FROM range(2048) a(n)",
    "SELECT range(100000000000)",
    "SELECT len(range(10000000 + n)) FROM range(2048) a(n)",
    "SELECT generate_series(1, 100000000000)",
    "SELECT list_resize([1], 10000000000)",
    "SELECT list_transform(range(100000), lambda x: repeat('x', 100000))",
    "SELECT list_transform(range(1000000), lambda x: range(1000000))",
    "SELECT [[y FOR y IN range(100000)] FOR x IN range(100000)]",
    "SELECT flatten(list_transform(range(100000), lambda x: range(100000)))",
    "SELECT replace(replace(repeat('a', 10000), 'a', repeat('a', 10000)), 'a', repeat('a', 100))",
    "SELECT regexp_replace(repeat('a', 100000), 'a', repeat('b', 100000), 'g')",
    "SELECT format('{:>2000000000}', 'x')",
    "SELECT printf('%2000000000d', 1)",
    "SELECT bitstring('1', 2000000000)::VARCHAR",
    "SELECT array_to_string(range(10000000), repeat('x', 1000))",
    "WITH RECURSIVE t AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM t) SELECT max(s) FROM t",
    "WITH RECURSIVE t AS (SELECT [1] AS l UNION ALL SELECT l || l FROM t) SELECT max(len(l)) "
    "FROM t",
    "SELECT repeat('x', 300000) FROM range(2048)",
    "SELECT unnest(range(1000000000))",
    "SELECT cast(repeat('[', 30000000) AS JSON)",
]

STUBBORN = [
    "SELECT jaro_similarity(repeat('ab', 20000000), repeat('ba', 20000000))",
    "SELECT jaro_winkler_similarity(repeat('ab', 20000000), repeat('ba', 20000000))",
    "SELECT levenshtein(repeat('a', 10000000), repeat('b', 10000000))",
    "SELECT damerau_levenshtein(repeat('a', 100000), repeat('b', 100000))",
    "SELECT editdist3(repeat('a', 10000000), repeat('b', 10000000))",
    "SELECT lpad('x', 2000000 + n::INT, 'y') FROM range(2048) a(n)",
    "SELECT rpad('x', 2000000000, 'y')",
    "SELECT list_aggregate(range(100000000), 'histogram')",
    "SELECT list_reduce(range(100000000), lambda x, y: x + y)",
    "SELECT strftime(TIMESTAMP '2026-01-01', repeat('%c', 100000000))",
]
"""What DuckDB does not look up from until a row is done."""

BOMBS = {"endless": ENDLESS, "greedy": GREEDY, "stubborn": STUBBORN}
