"""Statements that would read a file, a network or the machine; see `statements.py`."""

from __future__ import annotations

TABLE_FUNCTIONS = [
    f"FROM {call}"
    for call in (
        *(
            f"{name}('{{folder}}/secret.{suffix}')"
            for name, suffix in {
                "read_csv": "csv",
                "read_csv_auto": "csv",
                "sniff_csv": "csv",
                "read_json": "json",
                "read_json_auto": "json",
                "read_json_objects": "json",
                "read_json_objects_auto": "json",
                "read_ndjson": "json",
                "read_ndjson_auto": "json",
                "read_ndjson_objects": "json",
                "read_parquet": "parquet",
                "parquet_scan": "parquet",
                "parquet_schema": "parquet",
                "parquet_metadata": "parquet",
                "parquet_kv_metadata": "parquet",
                "parquet_file_metadata": "parquet",
                "parquet_full_metadata": "parquet",
                "parquet_bloom_probe": "parquet",
                "read_text": "txt",
                "read_blob": "txt",
                "read_duckdb": "duckdb",
                "glob": "*",
                "which_secret": "txt",
                "arrow_scan": "arrow",
                "iceberg_scan": "json",
                "delta_scan": "json",
                "st_read": "json",
                "sqlite_scan": "db",
                "postgres_scan": "db",
                "postgres_query": "db",
                "mysql_scan": "db",
                "read_xlsx": "xlsx",
                "load_aws_credentials": "txt",
            }.items()
        ),
        *(
            f"{name}()"
            for name in (
                "duckdb_settings duckdb_secrets duckdb_secret_types duckdb_databases "
                "duckdb_extensions duckdb_functions duckdb_logs duckdb_log_contexts "
                "duckdb_logs_parsed duckdb_memory duckdb_temporary_files duckdb_variables "
                "duckdb_external_file_cache duckdb_prepared_statements duckdb_optimizers "
                "duckdb_connection_count duckdb_views duckdb_indexes duckdb_sequences "
                "pragma_database_size pragma_platform pragma_version pragma_user_agent "
                "checkpoint force_checkpoint enable_logging disable_logging enable_profiling "
                "disable_profiling truncate_duckdb_logs test_all_types test_vector_types"
            ).split()
        ),
        "pragma_storage_info('runs')",
        "pragma_table_info('runs')",
        "pandas_scan(1)",
        "seq_scan('runs')",
        "python_map_function(1)",
        "query('DELETE FROM runs')",
        "query_table('runs')",
        "query_table(['runs', 'requests'])",
        "json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
        "summary((FROM runs))",
        *(
            f"{name}({arguments})"
            for name in ("histogram", "histogram_values")
            for arguments in (
                "duckdb_databases, path, technique := 'sample'",
                "duckdb_settings, value, technique := 'sample'",
                "'duckdb_databases', path",
                "'runs', k",
                "main.runs, k",
                "pg_catalog.pg_settings, setting",
                "runs, k, source := duckdb_databases",
                "source := duckdb_databases, col_name := path",
                "source := runs, col_name := k",
                "(FROM runs), k",
                "runs || '', k",
                "runs.k, k",
            )
        ),
    )
]

HIDDEN_FILES = [
    "SELECT (SELECT content FROM read_text('{folder}/secret.txt'))",
    "WITH x AS (FROM read_text('{folder}/secret.txt')) FROM x",
    "FROM runs, LATERAL (FROM read_text('{folder}/secret.txt'))",
    "FROM runs WHERE EXISTS (FROM read_text('{folder}/secret.txt'))",
    "SELECT 1 ORDER BY (SELECT size FROM read_text('{folder}/secret.txt'))",
    "SELECT 1 LIMIT (SELECT size FROM read_text('{folder}/secret.txt'))",
    "SELECT count(*) FILTER (WHERE (SELECT true FROM read_text('{folder}/secret.txt')))",
    "SELECT sum(1) OVER (ORDER BY (SELECT size FROM read_text('{folder}/secret.txt')))",
    "SELECT 1 UNION ALL SELECT size FROM read_text('{folder}/secret.txt')",
    "VALUES ((SELECT content FROM read_text('{folder}/secret.txt')))",
    "SELECT list_transform([1], lambda x: (SELECT size FROM read_text('{folder}/secret.txt')))",
    "SELECT [x FOR x IN (SELECT [content] FROM read_text('{folder}/secret.txt'))]",
    "SELECT CASE WHEN true THEN (SELECT content FROM read_text('{folder}/secret.txt')) END",
    "SELECT struct_pack(a := (SELECT content FROM read_text('{folder}/secret.txt')))",
    "SELECT unnest((SELECT [content] FROM read_text('{folder}/secret.txt')))",
    "FROM \"read_text\"('{folder}/secret.txt')",
    "FROM READ_TEXT('{folder}/secret.txt')",
    "FROM main.read_text('{folder}/secret.txt')",
    "FROM system.main.read_text('{folder}/secret.txt')",
    "FROM read_text(['{folder}/secret.txt'])",
    "FROM read_text('{folder}/' || 'secret.txt')",
    "DESCRIBE FROM read_text('{folder}/secret.txt')",
    "SUMMARIZE FROM read_csv('{folder}/secret.csv')",
    "EXPLAIN FROM read_csv('{folder}/secret.csv')",
    "EXPLAIN ANALYZE FROM read_csv('{folder}/secret.csv')",
    "FROM (PIVOT read_csv('{folder}/secret.csv') ON a IN (1) USING count(*))",
    "UNPIVOT read_csv('{folder}/secret.csv') ON a INTO NAME b VALUE c",
    "WITH RECURSIVE t AS (SELECT 1 UNION ALL FROM read_csv('{folder}/secret.csv')) FROM t",
    "FROM range((SELECT size FROM read_text('{folder}/secret.txt')))",
    "FROM runs TABLESAMPLE 10% JOIN read_csv('{folder}/secret.csv') ON true",
    "FROM runs ANTI JOIN read_csv('{folder}/secret.csv') USING (run_id)",
    "SELECT * REPLACE ((SELECT content FROM read_text('{folder}/secret.txt')) AS run_id) FROM runs",
    "SELECT 1 HAVING (SELECT true FROM read_text('{folder}/secret.txt'))",
    "SELECT 1 QUALIFY (SELECT true FROM read_text('{folder}/secret.txt'))",
    "SELECT 1 GROUP BY (SELECT content FROM read_text('{folder}/secret.txt'))",
    "SELECT any_value(1 ORDER BY (SELECT size FROM read_text('{folder}/secret.txt')))",
]

REPLACEMENT_SCANS = [
    "FROM '{folder}/secret.csv'",
    "FROM '{folder}/*.csv'",
    'FROM "{folder}/secret.csv"',
    "FROM '{folder}/secret.json'",
    "FROM '{folder}/secret.parquet'",
    "FROM '{folder}/secret.txt'",
    "FROM '{folder}/secret.duckdb'",
    "FROM 'secret.csv'",
    "FROM '/etc/passwd'",
    "FROM '/proc/self/environ'",
    "FROM 'file://{folder}/secret.csv'",
    "FROM 'https://127.0.0.1:9/secret.csv'",
    "FROM 's3://bucket/secret.parquet'",
    "FROM 'hf://datasets/a/b.csv'",
    "FROM 'gs://bucket/secret.json'",
    "DESCRIBE '{folder}/secret.csv'",
    "SUMMARIZE '{folder}/secret.csv'",
    'TABLE "{folder}/secret.csv"',
    "FROM store",
    "FROM folder",
    "FROM hostile_statements",
    "SELECT (SELECT a FROM '{folder}/secret.csv')",
    "WITH x AS (FROM '{folder}/secret.csv') FROM x",
    # a WITH of the same name elsewhere makes the name no table here
    'SELECT (WITH "secret.csv" AS (SELECT 1) FROM "secret.csv"), a FROM "secret.csv"',
    'WITH "secret.csv" AS (FROM "secret.csv") FROM "secret.csv"',
    'WITH x AS (FROM "secret.csv"), "secret.csv" AS (SELECT 1) FROM x',
    "WITH x AS (WITH duckdb_settings AS (SELECT 1) FROM duckdb_settings) FROM duckdb_settings",
    "WITH duckdb_settings AS (SELECT 1) FROM main.duckdb_settings",
    "FROM runs AT (VERSION => 1)",
]
