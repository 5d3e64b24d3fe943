-- What people add to runs and benchmarks, and results that other tools measured elsewhere.

ALTER TABLE runs ADD COLUMN name VARCHAR;
ALTER TABLE runs ADD COLUMN note VARCHAR;
ALTER TABLE runs ADD COLUMN tags VARCHAR[];
ALTER TABLE runs ADD COLUMN deleted_at TIMESTAMP;
ALTER TABLE runs ADD COLUMN imported_at TIMESTAMP;
COMMENT ON COLUMN runs.name IS 'Name a person gave it; empty: it is called by its method and K';
COMMENT ON COLUMN runs.note IS 'What a person wrote about it';
COMMENT ON COLUMN runs.tags IS 'Tags a person gave it, in alphabetical order; empty: none';
COMMENT ON COLUMN runs.deleted_at IS 'When it was deleted, UTC: it can be brought back until it is removed for good; empty: it is not';
COMMENT ON COLUMN runs.imported_at IS 'When it was imported, UTC; empty: it was recorded into this database';

ALTER TABLE benchmarks ADD COLUMN note VARCHAR;
ALTER TABLE benchmarks ADD COLUMN tags VARCHAR[];
ALTER TABLE benchmarks ADD COLUMN deleted_at TIMESTAMP;
ALTER TABLE benchmarks ADD COLUMN imported_at TIMESTAMP;
COMMENT ON COLUMN benchmarks.note IS 'What a person wrote about it';
COMMENT ON COLUMN benchmarks.tags IS 'Tags a person gave it, in alphabetical order; empty: none';
COMMENT ON COLUMN benchmarks.deleted_at IS 'When it was deleted with its runs, UTC: it can be brought back until it is removed for good; empty: it is not';
COMMENT ON COLUMN benchmarks.imported_at IS 'When it was imported, UTC; empty: it was measured into this database';

CREATE TABLE elsewhere (
    elsewhere_id            VARCHAR NOT NULL,
    name                    VARCHAR NOT NULL,
    tool                    VARCHAR NOT NULL,
    file_name               VARCHAR NOT NULL,
    file_sha256             VARCHAR NOT NULL,
    imported_at             TIMESTAMP NOT NULL,
    started_at              TIMESTAMP,
    model                   VARCHAR,
    server                  VARCHAR,
    dataset                 VARCHAR,
    method                  VARCHAR,
    k                       SMALLINT,
    concurrency             INTEGER,
    request_rate            DOUBLE,
    num_requests            INTEGER NOT NULL,
    num_failed              INTEGER,
    duration_s              DOUBLE,
    prompt_tokens           BIGINT,
    output_tokens           BIGINT,
    requests_per_s          DOUBLE,
    output_tokens_per_s     DOUBLE,
    ttft_mean_ms            DOUBLE,
    ttft_p50_ms             DOUBLE,
    ttft_p95_ms             DOUBLE,
    ttft_p99_ms             DOUBLE,
    tpot_mean_ms            DOUBLE,
    tpot_p50_ms             DOUBLE,
    tpot_p95_ms             DOUBLE,
    tpot_p99_ms             DOUBLE,
    e2el_mean_ms            DOUBLE,
    e2el_p50_ms             DOUBLE,
    e2el_p95_ms             DOUBLE,
    e2el_p99_ms             DOUBLE,
    num_drafts              BIGINT,
    num_draft_tokens        BIGINT,
    num_accepted_tokens     BIGINT,
    draft_acceptance_rate   DOUBLE,
    mean_acceptance_length  DOUBLE,
    acceptance_rate_per_pos DOUBLE[],
    document                JSON NOT NULL,
    note                    VARCHAR,
    tags                    VARCHAR[],
    deleted_at              TIMESTAMP
);
COMMENT ON TABLE elsewhere IS 'Results that another tool measured, imported from its file: not measured by specviz';
COMMENT ON COLUMN elsewhere.elsewhere_id IS 'Id of the results';
COMMENT ON COLUMN elsewhere.name IS 'Name shown';
COMMENT ON COLUMN elsewhere.tool IS 'Tool that measured them: vllm bench serve or guidellm';
COMMENT ON COLUMN elsewhere.file_name IS 'Name of the imported file';
COMMENT ON COLUMN elsewhere.file_sha256 IS 'SHA-256 of the imported file: the same file is imported once';
COMMENT ON COLUMN elsewhere.imported_at IS 'When they were imported, UTC';
COMMENT ON COLUMN elsewhere.started_at IS 'When they were measured, UTC; empty where the file does not tell';
COMMENT ON COLUMN elsewhere.model IS 'Target model';
COMMENT ON COLUMN elsewhere.server IS 'Backend or URL, as the file tells';
COMMENT ON COLUMN elsewhere.dataset IS 'Data the prompts came from, as the file tells';
COMMENT ON COLUMN elsewhere.method IS 'How tokens were drafted, as the importing person says; such files do not tell';
COMMENT ON COLUMN elsewhere.k IS 'num_speculative_tokens, as the importing person says or the acceptance by position shows';
COMMENT ON COLUMN elsewhere.concurrency IS 'Requests in flight at the same time at most; empty: not limited or not told';
COMMENT ON COLUMN elsewhere.request_rate IS 'Requests per second asked for; empty: as fast as possible or not told';
COMMENT ON COLUMN elsewhere.num_requests IS 'Requests that finished';
COMMENT ON COLUMN elsewhere.num_failed IS 'Requests that failed; empty where the file does not tell';
COMMENT ON COLUMN elsewhere.duration_s IS 'Time of the whole measurement, s';
COMMENT ON COLUMN elsewhere.prompt_tokens IS 'Tokens of all prompts';
COMMENT ON COLUMN elsewhere.output_tokens IS 'Tokens of all answers';
COMMENT ON COLUMN elsewhere.requests_per_s IS 'Finished requests per second';
COMMENT ON COLUMN elsewhere.output_tokens_per_s IS 'Output tokens per second of all streams together';
COMMENT ON COLUMN elsewhere.ttft_mean_ms IS 'Time to first token, mean, ms';
COMMENT ON COLUMN elsewhere.ttft_p50_ms IS 'Time to first token, median, ms';
COMMENT ON COLUMN elsewhere.ttft_p95_ms IS 'Time to first token, 95th percentile, ms';
COMMENT ON COLUMN elsewhere.ttft_p99_ms IS 'Time to first token, 99th percentile, ms';
COMMENT ON COLUMN elsewhere.tpot_mean_ms IS 'Time per output token after the first, mean, ms';
COMMENT ON COLUMN elsewhere.tpot_p50_ms IS 'Time per output token after the first, median, ms';
COMMENT ON COLUMN elsewhere.tpot_p95_ms IS 'Time per output token after the first, 95th percentile, ms';
COMMENT ON COLUMN elsewhere.tpot_p99_ms IS 'Time per output token after the first, 99th percentile, ms';
COMMENT ON COLUMN elsewhere.e2el_mean_ms IS 'Time to the last token, mean, ms';
COMMENT ON COLUMN elsewhere.e2el_p50_ms IS 'Time to the last token, median, ms';
COMMENT ON COLUMN elsewhere.e2el_p95_ms IS 'Time to the last token, 95th percentile, ms';
COMMENT ON COLUMN elsewhere.e2el_p99_ms IS 'Time to the last token, 99th percentile, ms';
COMMENT ON COLUMN elsewhere.num_drafts IS 'Steps that verified at least one draft token';
COMMENT ON COLUMN elsewhere.num_draft_tokens IS 'Draft tokens';
COMMENT ON COLUMN elsewhere.num_accepted_tokens IS 'Draft tokens that the target accepted';
COMMENT ON COLUMN elsewhere.draft_acceptance_rate IS 'num_accepted_tokens / num_draft_tokens';
COMMENT ON COLUMN elsewhere.mean_acceptance_length IS 'Tokens per drafted step, the recovered or bonus token included';
COMMENT ON COLUMN elsewhere.acceptance_rate_per_pos IS 'Accepted at position 1, 2, ... / num_drafts';
COMMENT ON COLUMN elsewhere.document IS 'The imported results as the tool wrote them, without what elsewhere_requests has';
COMMENT ON COLUMN elsewhere.note IS 'What a person wrote about them';
COMMENT ON COLUMN elsewhere.tags IS 'Tags a person gave them, in alphabetical order; empty: none';
COMMENT ON COLUMN elsewhere.deleted_at IS 'When they were deleted, UTC: they can be brought back until they are removed for good; empty: they are not';

CREATE TABLE elsewhere_requests (
    elsewhere_id  VARCHAR NOT NULL,
    request_index INTEGER NOT NULL,
    started_s     DOUBLE,
    prompt_tokens INTEGER,
    output_tokens INTEGER,
    ttft_ms       DOUBLE,
    tpot_ms       DOUBLE,
    e2el_ms       DOUBLE,
    gaps_ms       FLOAT[],
    output_text   VARCHAR,
    error         VARCHAR
);
COMMENT ON TABLE elsewhere_requests IS 'Single requests of imported results, where the file has them';
COMMENT ON COLUMN elsewhere_requests.elsewhere_id IS 'Results the request belongs to';
COMMENT ON COLUMN elsewhere_requests.request_index IS 'Place in the file, from 0';
COMMENT ON COLUMN elsewhere_requests.started_s IS 'When it was sent, s since the first request';
COMMENT ON COLUMN elsewhere_requests.prompt_tokens IS 'Tokens of the prompt';
COMMENT ON COLUMN elsewhere_requests.output_tokens IS 'Tokens of the answer';
COMMENT ON COLUMN elsewhere_requests.ttft_ms IS 'Time to first token, ms';
COMMENT ON COLUMN elsewhere_requests.tpot_ms IS 'Time per output token after the first, ms';
COMMENT ON COLUMN elsewhere_requests.e2el_ms IS 'Time to the last token, ms';
COMMENT ON COLUMN elsewhere_requests.gaps_ms IS 'Time between one chunk and the next, ms: a chunk may hold several tokens';
COMMENT ON COLUMN elsewhere_requests.output_text IS 'Text of the answer, where the file has it';
COMMENT ON COLUMN elsewhere_requests.error IS 'Why it failed; empty: it did not';

CREATE TABLE saved_queries (
    name     VARCHAR NOT NULL,
    "sql"    VARCHAR NOT NULL,
    saved_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE saved_queries IS 'Queries that people saved on the Query page';
COMMENT ON COLUMN saved_queries.name IS 'Name shown; saving under a name again replaces it';
COMMENT ON COLUMN saved_queries."sql" IS 'The query';
COMMENT ON COLUMN saved_queries.saved_at IS 'When it was saved, UTC';
