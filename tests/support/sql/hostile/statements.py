"""Statements that must have no effect, by family. `{folder}` is a folder with files to steal."""

from __future__ import annotations

from tests.support.sql.hostile.files import HIDDEN_FILES, REPLACEMENT_SCANS, TABLE_FUNCTIONS

WRITES = [
    "INSERT INTO runs SELECT * FROM runs",
    "INSERT OR REPLACE INTO runs SELECT * FROM runs",
    "INSERT INTO migrations DEFAULT VALUES RETURNING *",
    "UPDATE runs SET error = 'owned'",
    "DELETE FROM runs",
    "TRUNCATE requests",
    "MERGE INTO runs USING requests ON runs.run_id = requests.run_id WHEN MATCHED THEN DELETE",
    "CREATE TABLE loot (a INTEGER)",
    "CREATE TABLE loot AS SELECT * FROM runs",
    "CREATE OR REPLACE TABLE runs (a INTEGER)",
    "CREATE TEMP TABLE loot AS SELECT 1",
    "SELECT * INTO loot FROM runs",
    "ALTER TABLE runs DROP COLUMN error",
    "ALTER TABLE runs RENAME TO loot",
    "DROP TABLE runs",
]

DEFINITIONS = [
    "CREATE VIEW loot AS SELECT * FROM runs",
    "CREATE TEMP VIEW runs AS SELECT 1",
    "CREATE MACRO lower(x) AS 1",
    "CREATE TEMP MACRO lower(x) AS current_setting(x)",
    "CREATE MACRO loot() AS TABLE SELECT * FROM runs",
    "CREATE SCHEMA loot",
    "CREATE SEQUENCE loot",
    "CREATE TYPE loot AS ENUM ('a')",
    "CREATE INDEX loot ON runs (run_id)",
    "CREATE SECRET loot (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "CREATE PERSISTENT SECRET loot (TYPE http)",
    "CREATE TRIGGER loot AFTER INSERT ON runs EXECUTE PROCEDURE f()",
    "CREATE FUNCTION loot(x) AS x",
    "ALTER TABLE runs ADD COLUMN loot INTEGER",
    "ALTER TABLE runs ALTER run_id DROP NOT NULL",
    "COMMENT ON TABLE runs IS 'owned'",
    "COMMENT ON COLUMN runs.error IS 'owned'",
    "DROP SCHEMA main CASCADE",
    "DROP VIEW duckdb_tables",
    "DROP SECRET loot",
]

FILES_AND_DATABASES = [
    "COPY runs TO '{folder}/loot.csv'",
    "COPY (SELECT 1) TO '{folder}/loot.parquet' (FORMAT parquet)",
    "COPY (SELECT 1) TO '{folder}/loot.json' (FORMAT json)",
    "COPY (SELECT 1) TO '/dev/stdout'",
    "COPY runs FROM '{folder}/secret.csv'",
    "COPY FROM DATABASE runs TO loot",
    "EXPORT DATABASE '{folder}/loot'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{folder}/loot.duckdb'",
    "ATTACH ':memory:' AS loot",
    "ATTACH '{folder}/loot.duckdb' AS loot (READ_ONLY)",
    "ATTACH 'postgres:host=127.0.0.1' AS loot",
    "ATTACH 'ducklake:{folder}/loot.ducklake' AS loot",
    "ATTACH 'https://127.0.0.1:9/loot.duckdb'",
    "DETACH runs",
    "USE memory",
    "INSTALL httpfs",
    "FORCE INSTALL httpfs FROM 'http://127.0.0.1:9'",
    "INSTALL '{folder}/loot.duckdb_extension'",
    "LOAD httpfs",
    "LOAD '{folder}/loot.so'",
    "UPDATE EXTENSIONS",
]

SETTINGS = [
    "SET memory_limit = '1TB'",
    "SET threads = 64",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET GLOBAL allowed_directories = ['/']",
    "SET SESSION temp_directory = '{folder}'",
    "SET search_path = 'pg_catalog'",
    "SET schema = 'information_schema'",
    "SET VARIABLE loot = (SELECT max(run_id) FROM runs)",
    "SET allow_unsigned_extensions = true",
    "SET max_expression_depth = 100000",
    "SET TIME ZONE 'Asia/Seoul'",
    "RESET memory_limit",
    "RESET lock_configuration",
    "SET log_query_path = '{folder}/loot.log'",
    "SET home_directory = '{folder}'",
    "SET profiling_output = '{folder}/loot.json'",
]

PRAGMAS_AND_CALLS = [
    "PRAGMA database_size",
    "PRAGMA database_list",
    "PRAGMA show_tables",
    "PRAGMA table_info('runs')",
    "PRAGMA storage_info('runs')",
    "PRAGMA version",
    "PRAGMA user_agent",
    "PRAGMA force_checkpoint",
    "PRAGMA enable_profiling",
    "PRAGMA enable_verification",
    "PRAGMA memory_limit = '1TB'",
    "PRAGMA threads = 64",
    "PRAGMA import_database('{folder}')",
    "PRAGMA copy_database('runs', 'loot')",
    "PRAGMA add_parquet_key('loot', '0123456789112345')",
    "PRAGMA disable_checkpoint_on_shutdown",
    "CALL pragma_version()",
    "CALL duckdb_secrets()",
    "CALL enable_logging(storage = 'file', storage_path = '{folder}')",
    "CALL force_checkpoint()",
    "CALL read_text('{folder}/secret.txt')",
    "CALL truncate_duckdb_logs()",
    "CALL pg_sleep(1)",
]

TRANSACTIONS = [
    "BEGIN",
    "BEGIN TRANSACTION READ WRITE",
    "START TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "ABORT",
    "END",
    "CHECKPOINT",
    "FORCE CHECKPOINT",
    "VACUUM",
    "VACUUM ANALYZE runs",
    "ANALYZE",
    "PREPARE loot AS DELETE FROM runs",
    "EXECUTE loot",
    "DEALLOCATE loot",
    "DECLARE loot CURSOR FOR SELECT 1",
    "COMMIT; DELETE FROM runs",
    "ROLLBACK; BEGIN; DELETE FROM runs; COMMIT",
    "SELECT 1; SELECT 2",
    "SELECT 1;; DELETE FROM runs;;",
    "SELECT 1 /* ; */; -- ;\nDELETE FROM runs",
    "SELECT ';'; DROP TABLE runs --'",
    "PIVOT runs ON method",
    "FROM runs; COMMIT",
    "SELECT $$;$$; COMMIT",
]

WRAPPINGS = {
    "cte": "WITH x AS ({0}) SELECT * FROM x",
    "returning": "WITH x AS ({0} RETURNING *) SELECT * FROM x",
    "materialized": "WITH x AS MATERIALIZED ({0}) FROM x",
    "subquery": "SELECT * FROM ({0})",
    "explain": "EXPLAIN {0}",
    "analyze": "EXPLAIN ANALYZE {0}",
    "options": "EXPLAIN (ANALYZE, FORMAT json) {0}",
    "describe": "DESCRIBE {0}",
    "summarize": "SUMMARIZE {0}",
    "left": "COMMIT; {0}",
    "after": "SELECT 1; {0}",
    "before": "{0}; SELECT 1",
    "comment": "/* SELECT */ -- SELECT\n{0}",
    "prepared": "PREPARE x AS {0}",
    "query": "FROM query('{0}')",
}
"""Ways to hide a statement that writes in one that seems to read."""

WRAPPED = [
    wrapping.format(statement)
    for wrapping in WRAPPINGS.values()
    for statement in (
        "INSERT INTO runs SELECT * FROM runs",
        "UPDATE runs SET error = NULL",
        "DELETE FROM runs",
        "CREATE TABLE loot AS SELECT 1",
        "COPY runs TO $${folder}/loot.csv$$",
        "SET threads = 64",
    )
]

CATALOG = [
    f"FROM {name}"
    for name in (
        "duckdb_settings duckdb_databases duckdb_logs duckdb_views duckdb_constraints "
        "pragma_database_list sqlite_master sqlite_schema sqlite_temp_master pg_settings "
        "pg_catalog.pg_settings pg_catalog.pg_class pg_catalog.pg_proc pg_catalog.pg_tables "
        "pg_catalog.pg_prepared_statements system.main.duckdb_settings system.main.duckdb_tables "
        "system.information_schema.tables information_schema.schemata information_schema.views "
        "temp.main.runs memory.main.runs loot.runs runs_.main.runs"
    ).split()
] + ["SHOW DATABASES", "SHOW VARIABLES", "SHOW SECRETS", "SHOW TABLES FROM pg_catalog", "SHOW loot"]

SCALARS = [
    f"SELECT {call}"
    for call in (
        "getenv('HOME')",
        "current_setting('temp_directory')",
        "current_setting('secret_directory')",
        "main.current_setting('threads')",
        "system.main.current_setting('threads')",
        "'threads'.current_setting()",
        "getvariable('loot')",
        "nextval('loot')",
        "currval('loot')",
        "write_log('owned')",
        "sleep_ms(3000)",
        "pg_sleep(3)",
        "setseed(0.5)",
        "pg_get_viewdef(1)",
        "pg_conf_load_time()",
        "inet_server_addr()",
        "in_search_path('a', 'b')",
        "current_connection_id()",
        "stats(1)",
        "json_serialize_plan('FROM read_csv(''{folder}/secret.csv'')')",
        "json_deserialize_sql(json_serialize_sql('SELECT 1'))",
        "[current_setting(x) FOR x IN ['threads']]",
        "list_transform(['threads'], lambda x: current_setting(x))",
        "sum(current_setting('threads')::INT) OVER ()",
        "system(1)",
        "load_extension('httpfs')",
        "format_type(23, 0)",
        "get_block_size('runs')",
        "http_get('http://127.0.0.1:9')",
    )
]

NOT_SQL = [
    "",
    " \n\t",
    "-- nothing",
    "/* nothing */",
    ";",
    "SELECT",
    "SELEC 1",
    "SELECT 'open",
    "SELECT 1 FROM",
    "\0",
    "SELECT 1 \0; DELETE FROM runs",
    "SELECT '\ud83d'",
    "\u202eSELECT\u202c 1",
    ".read {folder}/secret.txt",
    "!ls {folder}",
    "\\copy runs TO '{folder}/loot.csv'",
    "SELECT ?",
    "SELECT $1",
    "SELECT $loot",
    "SELECT " + "1, " * 10_000 + "1",
    "SELECT " + "CASE WHEN true THEN " * 900 + "1" + " END" * 900,
    "SELECT " + "[" * 2_000 + "1" + "]" * 2_000,
    "SELECT " + "NOT " * 4_000 + "true",
    "SELECT " + "+".join(["1"] * 5_000),
    "SELECT NULL::INT" + "[]" * 5_000,
    "SELECT * FROM (" * 1_000 + "SELECT 1" + ")" * 1_000,
    "SELECT " + "(SELECT " * 90 + "1" + ")" * 90,
    "SELECT 1 WHERE EXISTS (" * 90 + "SELECT 1" + ")" * 90,
    "SELECT " + "list_transform([1], lambda x: " * 50 + "1" + ")" * 50,
    "WITH a0 AS (SELECT 1), "
    + ", ".join(f"a{n + 1} AS (SELECT * FROM a{n} x, a{n} y)" for n in range(39))
    + " SELECT * FROM a39",
    "WITH RECURSIVE a0 AS (SELECT 1), "
    + ", ".join(f"a{n + 1} AS (FROM a{n} UNION ALL FROM a{n})" for n in range(30))
    + " EXPLAIN FROM a30",
    "SELECT * FROM runs" + ", runs" * 500,
    "SELECT 'x' AS a0, " + ", ".join(f"a{n} || a{n} AS a{n + 1}" for n in range(40)),
]

REFUSED = {
    "writes": WRITES,
    "definitions": DEFINITIONS,
    "files and databases": FILES_AND_DATABASES,
    "settings": SETTINGS,
    "pragmas and calls": PRAGMAS_AND_CALLS,
    "transactions": TRANSACTIONS,
    "wrapped": WRAPPED,
    "table functions": TABLE_FUNCTIONS,
    "hidden files": HIDDEN_FILES,
    "replacement scans": REPLACEMENT_SCANS,
    "catalog": CATALOG,
    "scalars": SCALARS,
    "not sql": NOT_SQL,
}
