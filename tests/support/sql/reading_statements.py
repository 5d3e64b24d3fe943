"""Statements that only read, one for each part of SQL that people use."""

READING = [
    "SELECT count(*) FROM runs",
    "FROM runs;",
    "TABLE runs",
    " -- a comment\nselect * from RUNS /* another */",
    "VALUES (1, 'a'), (2, 'b')",
    "DESCRIBE runs",
    "DESCRIBE SELECT 1",
    "SUMMARIZE runs",
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "EXPLAIN SELECT * FROM runs",
    "EXPLAIN ANALYZE SELECT * FROM runs",
    "EXPLAIN (FORMAT json) SELECT * FROM runs",
    "explain ( analyze, format JSON ) SELECT * FROM runs",
    "WITH a AS (FROM runs), b AS (FROM a) SELECT count(*) FROM b JOIN a USING (run_id)",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 9) FROM t",
    "SELECT * FROM main.runs UNION ALL BY NAME SELECT * FROM runs",
    "SELECT r.k, d.verdict, count(*) FROM runs r JOIN requests q USING (run_id) "
    "JOIN decisions d USING (request_id) GROUP BY ALL ORDER BY ALL",
    "SELECT depth, avg((verdict = 'accepted')::INT), quantile_cont(target_prob, 0.95) "
    "FROM decisions GROUP BY ROLLUP (depth) HAVING grouping(depth) = 0",
    "SELECT *, row_number() OVER w, lag(u, 1) OVER w FROM decisions WINDOW w AS "
    "(PARTITION BY request_id ORDER BY step_index) QUALIFY row_number() OVER w = 1",
    "SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY elapsed_ms) FROM steps",
    "SELECT unnest(emitted) FROM steps",
    "SELECT e.text FROM steps, unnest(emitted) AS u(e) WHERE e.origin = 'bonus'",
    "SELECT position, rate FROM requests, unnest(acceptance_rate_per_pos) WITH ORDINALITY "
    "AS t(rate, position)",
    "SELECT [x.text FOR x IN emitted IF x.token_id > 1], emitted[1].text, emitted[1:2] FROM steps",
    "SELECT list_transform(emitted, lambda x: x.text), list_sum([1, 2]), len(emitted) FROM steps",
    "SELECT options->>'$.shape', json_extract_string(options, '$.shape') FROM runs",
    "SELECT key FROM runs, json_each(options)",
    "FROM (PIVOT decisions ON verdict IN ('accepted', 'rejected') USING count(*) GROUP BY depth)",
    "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b INTO NAME name VALUE value",
    "SELECT date_trunc('hour', started_at), extract(year FROM started_at), now(), "
    "now() - started_at, started_at AT TIME ZONE 'Asia/Seoul', strftime(started_at, '%Y'), "
    "INTERVAL 1 DAY FROM runs",
    "SELECT CASE WHEN k > 3 THEN 'a' ELSE 'b' END, coalesce(k, 0), nullif(k, 1), k IN (1, 2), "
    "k BETWEEN 1 AND 2, method LIKE 'd%', method ILIKE '%', method SIMILAR TO 'x', "
    "if(true, 1, 2), try(1 / 0), k::DOUBLE / 3, TRY_CAST('x' AS INT), k // 2, k % 2, k ** 2, "
    "NOT true FROM runs",
    "SELECT (SELECT max(k) FROM runs), EXISTS (FROM steps), "
    "run_id = ANY (SELECT run_id FROM runs) FROM runs",
    "SELECT * EXCLUDE (error) REPLACE (k + 1 AS k), columns('k') FROM runs",
    "SELECT count(DISTINCT method), string_agg(method, ',' ORDER BY method), arg_max(k, k), "
    "approx_quantile(k, 0.5), histogram(k), list(k), count(*) FILTER (WHERE k > 1) FROM runs",
    "SELECT regexp_extract(text, '\\w+'), text[1], text || '!', length(text), md5(text), "
    "printf('%.2f', u), format('{}', depth), text COLLATE NOCASE FROM decisions",
    "SELECT {'a': 1, 'b': [1, 2]}, MAP {'x': 1}, [1, 2, 3], struct_pack(a := 1), row(1, 2)",
    "SELECT * FROM runs USING SAMPLE 10 ROWS",
    "SELECT random() < 2, uuid() IS NOT NULL, typeof(k) FROM runs",
    "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'runs'",
    "SELECT table_name FROM information_schema.tables",
    "SELECT * FROM generate_series(1, 3), range(3), (VALUES (1)) t(x)",
    "FROM runs ASOF JOIN (SELECT run_id, started_at FROM runs) b USING (run_id, started_at)",
    "SELECT 'INSERT INTO runs; COMMIT; read_csv(''/etc/passwd'')' AS \"DROP TABLE runs\"",
    "FROM histogram_values(decisions, depth)",
    "SELECT levenshtein(a.text, b.text), lpad(a.text, 9, ' ') FROM decisions a, decisions b",
]
