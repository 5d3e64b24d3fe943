-- One name for one figure: vLLM's, in the tables as in every JSON document.

ALTER TABLE requests RENAME COLUMN tokens_per_s TO output_throughput;
COMMENT ON COLUMN requests.output_throughput IS 'output_tokens per second of e2el_ms, tok/s';

ALTER TABLE elsewhere RENAME COLUMN output_tokens_per_s TO output_throughput;
COMMENT ON COLUMN elsewhere.output_throughput IS 'Output tokens per second of all streams together, tok/s';
ALTER TABLE elsewhere RENAME COLUMN requests_per_s TO request_throughput;
COMMENT ON COLUMN elsewhere.request_throughput IS 'Finished requests per second';

UPDATE saved_queries SET "sql" = regexp_replace(regexp_replace("sql",
    '\b(output_)?tokens_per_s\b', 'output_throughput', 'g'),
    '\brequests_per_s\b', 'request_throughput', 'g');

ALTER TABLE samples ADD COLUMN num_judged_tokens INTEGER;
COMMENT ON COLUMN samples.num_judged_tokens IS 'Draft tokens of a tree that the target accepted or rejected; empty for a chain, where the steps say it, and for trees measured before this column';
