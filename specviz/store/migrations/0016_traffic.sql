-- Benchmarks whose load changes in phases, and whose requests have different temperatures.

ALTER TABLE runs ADD COLUMN traffic VARCHAR;
COMMENT ON COLUMN runs.traffic IS 'Name of the load that changed in phases, as in the benchmark''s plan; empty: it was steady';
COMMENT ON COLUMN runs.temperature IS 'Sampling temperature; of requests that differ in theirs the highest, see samples.request_temperature';
COMMENT ON COLUMN runs.concurrency IS 'Requests in flight at the same time; 0: as they came, see request_rate and traffic';

ALTER TABLE samples ADD COLUMN phase SMALLINT;
COMMENT ON COLUMN samples.phase IS 'Phase of the load in which it was due, from 0; empty where the load was steady';
ALTER TABLE samples ADD COLUMN request_temperature DOUBLE;
COMMENT ON COLUMN samples.request_temperature IS 'Its sampling temperature where those of a run differ; empty: that of the run';

ALTER TABLE blocks ADD COLUMN phase_ms DOUBLE[];
COMMENT ON COLUMN blocks.phase_ms IS 'When each phase of the load began, ms since the block began, and at last when the last one ended; empty where the load was steady';
