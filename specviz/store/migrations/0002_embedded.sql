-- What the embedded engine tells beyond a server. Empty in runs that were stored before.

ALTER TABLE steps ADD COLUMN spans STRUCT(lane VARCHAR, start_ms DOUBLE, end_ms DOUBLE)[];
ALTER TABLE steps ADD COLUMN skipped_layers VARCHAR[];
ALTER TABLE steps ADD COLUMN matched_tokens INTEGER;
COMMENT ON COLUMN steps.spans IS 'When each lane (draft, verify) was at work, ms since the request was sent; empty where the engine does not tell';
COMMENT ON COLUMN steps.skipped_layers IS 'Sublayers of the target that drafting left out (attention 3, mlp 5, from 0); empty for methods that skip none';
COMMENT ON COLUMN steps.matched_tokens IS 'How many of the last tokens a lookup found again earlier; empty for methods that look nothing up';

ALTER TABLE requests ADD COLUMN extra_weights_bytes BIGINT;
ALTER TABLE requests ADD COLUMN extra_kv_cache_bytes BIGINT;
ALTER TABLE requests ADD COLUMN extra_buffers_bytes BIGINT;
COMMENT ON COLUMN requests.extra_weights_bytes IS 'Weights the method holds beyond plain decoding, bytes; empty where the engine does not tell';
COMMENT ON COLUMN requests.extra_kv_cache_bytes IS 'KV cache the method holds beyond plain decoding, bytes; empty where the engine does not tell';
COMMENT ON COLUMN requests.extra_buffers_bytes IS 'Other memory the method holds beyond plain decoding, bytes; empty where the engine does not tell';
