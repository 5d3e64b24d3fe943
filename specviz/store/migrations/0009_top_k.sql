-- How many of the most likely tokens a token was drawn from.

ALTER TABLE runs ADD COLUMN top_k INTEGER;
COMMENT ON COLUMN runs.top_k IS 'Drawn from this many of the most likely tokens, 0 or empty is off';
COMMENT ON COLUMN runs.engine IS 'embedded, or the kind of the server, such as vllm';
COMMENT ON COLUMN benchmark_arms.engine IS 'embedded, or the kind of the server, such as vllm';
