-- Where the time of a benchmark's requests goes. Empty where the engine does not report it, and in
-- requests that were stored before.

ALTER TABLE samples ADD COLUMN draft_ms DOUBLE;
ALTER TABLE samples ADD COLUMN overlapped_draft_ms DOUBLE;
ALTER TABLE samples ADD COLUMN verify_ms DOUBLE;
COMMENT ON COLUMN samples.draft_ms IS 'Time behind the first step at which only drafting ran, ms in all; empty where the engine does not report it';
COMMENT ON COLUMN samples.overlapped_draft_ms IS 'Time behind the first step at which drafting ran while the target verified, ms in all; verify_ms contains it';
COMMENT ON COLUMN samples.verify_ms IS 'Time of the target to verify behind the first step, ms in all; empty where the engine does not report it';
