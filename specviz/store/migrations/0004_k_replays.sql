-- Replays: what a method would have drafted behind every token of a benchmark's answers, from which
-- every smaller K follows exactly, and what a step took at some of them.

CREATE TABLE k_replays (
    benchmark_id  VARCHAR NOT NULL,
    arm_index     INTEGER NOT NULL,
    prompt_index  INTEGER NOT NULL,
    turn          INTEGER NOT NULL,
    k             SMALLINT NOT NULL,
    output_tokens INTEGER NOT NULL,
    drafted       SMALLINT[] NOT NULL,
    matched       SMALLINT[] NOT NULL
);
COMMENT ON TABLE k_replays IS 'What a method drafts behind every output token of an answer; tells every smaller K';
COMMENT ON COLUMN k_replays.benchmark_id IS 'Benchmark whose answers were replayed';
COMMENT ON COLUMN k_replays.arm_index IS 'Arm whose answers were replayed, as in benchmark_arms';
COMMENT ON COLUMN k_replays.prompt_index IS 'Prompt, as in benchmark_prompts';
COMMENT ON COLUMN k_replays.turn IS 'Turn of the conversation, from 0';
COMMENT ON COLUMN k_replays.k IS 'Draft tokens asked for at every position';
COMMENT ON COLUMN k_replays.output_tokens IS 'Tokens of the answer';
COMMENT ON COLUMN k_replays.drafted IS 'Tokens drafted behind output token 1, 2, ...';
COMMENT ON COLUMN k_replays.matched IS 'How many of them in a row the target would have accepted';

CREATE TABLE k_step_times (
    benchmark_id VARCHAR NOT NULL,
    arm_index    INTEGER NOT NULL,
    k            SMALLINT NOT NULL,
    step_ms      DOUBLE NOT NULL,
    num_steps    INTEGER NOT NULL
);
COMMENT ON TABLE k_step_times IS 'What a step took during the replay, side by side at a few K: the slope, not the level';
COMMENT ON COLUMN k_step_times.benchmark_id IS 'Benchmark whose answers were replayed';
COMMENT ON COLUMN k_step_times.arm_index IS 'Arm whose answers were replayed';
COMMENT ON COLUMN k_step_times.k IS 'num_speculative_tokens';
COMMENT ON COLUMN k_step_times.step_ms IS 'Mean time of a step, ms';
COMMENT ON COLUMN k_step_times.num_steps IS 'Steps that were timed';
