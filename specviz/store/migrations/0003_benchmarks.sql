-- Benchmarks: plans, their rounds, and what each timed request told. A benchmark's runs are its
-- arms at one temperature and load; runs.group_id is the benchmark's id.

ALTER TABLE runs ADD COLUMN request_rate DOUBLE;
COMMENT ON COLUMN runs.request_rate IS 'Requests per second with Poisson arrivals; empty where requests were sent one behind the other';
COMMENT ON COLUMN runs.concurrency IS 'Requests in flight at the same time; 0: as they came, see request_rate';

CREATE TABLE benchmarks (
    benchmark_id    VARCHAR NOT NULL,
    name            VARCHAR NOT NULL,
    plan_toml       VARCHAR NOT NULL,
    status          VARCHAR NOT NULL,
    started_at      TIMESTAMP NOT NULL,
    finished_at     TIMESTAMP,
    error           VARCHAR,
    planned         INTEGER NOT NULL,
    servers_at_once INTEGER NOT NULL,
    hardware        VARCHAR,
    git_revision    VARCHAR,
    specviz_version VARCHAR NOT NULL
);
COMMENT ON TABLE benchmarks IS 'One benchmark: its plan and what became of it';
COMMENT ON COLUMN benchmarks.benchmark_id IS 'Id of the benchmark; the group_id of its runs';
COMMENT ON COLUMN benchmarks.name IS 'Name in the plan';
COMMENT ON COLUMN benchmarks.plan_toml IS 'The plan, complete enough to do it again';
COMMENT ON COLUMN benchmarks.status IS 'running, finished, partial (something is missing: resume it), failed or cancelled';
COMMENT ON COLUMN benchmarks.started_at IS 'When it was first started, UTC';
COMMENT ON COLUMN benchmarks.finished_at IS 'When it last ended, UTC; empty while running and after a crash';
COMMENT ON COLUMN benchmarks.error IS 'Why something is missing';
COMMENT ON COLUMN benchmarks.planned IS 'Requests the plan asks for, warm-up not counted';
COMMENT ON COLUMN benchmarks.servers_at_once IS 'Servers that were started side by side at most';
COMMENT ON COLUMN benchmarks.hardware IS 'Processor or accelerator of this machine';
COMMENT ON COLUMN benchmarks.git_revision IS 'Git revision of specviz';
COMMENT ON COLUMN benchmarks.specviz_version IS 'Version of specviz';

CREATE TABLE benchmark_prompts (
    benchmark_id VARCHAR NOT NULL,
    prompt_index INTEGER NOT NULL,
    item_id      VARCHAR NOT NULL,
    category     VARCHAR,
    turns        VARCHAR[] NOT NULL,
    earlier      STRUCT("role" VARCHAR, content VARCHAR)[] NOT NULL,
    max_tokens   INTEGER
);
COMMENT ON TABLE benchmark_prompts IS 'The prompts a benchmark drew: resuming asks the same ones';
COMMENT ON COLUMN benchmark_prompts.benchmark_id IS 'Benchmark the prompt was drawn for';
COMMENT ON COLUMN benchmark_prompts.prompt_index IS 'Place in the drawn order, from 0';
COMMENT ON COLUMN benchmark_prompts.item_id IS 'Id in its prompt set';
COMMENT ON COLUMN benchmark_prompts.category IS 'Category; empty where the set has none';
COMMENT ON COLUMN benchmark_prompts.turns IS 'User messages asked one after another';
COMMENT ON COLUMN benchmark_prompts.earlier IS 'Conversation before the first turn';
COMMENT ON COLUMN benchmark_prompts.max_tokens IS 'Longest answer it asks for; empty: the plan''s';

CREATE TABLE benchmark_arms (
    benchmark_id   VARCHAR NOT NULL,
    arm_index      INTEGER NOT NULL,
    name           VARCHAR NOT NULL,
    engine         VARCHAR NOT NULL,
    method         VARCHAR,
    k              SMALLINT,
    model          VARCHAR,
    draft          VARCHAR,
    server_url     VARCHAR,
    server_version VARCHAR,
    prefix_caching BOOLEAN,
    start_s        DOUBLE,
    error          VARCHAR
);
COMMENT ON TABLE benchmark_arms IS 'One arm of a benchmark, as its engine last opened';
COMMENT ON COLUMN benchmark_arms.benchmark_id IS 'Benchmark the arm belongs to';
COMMENT ON COLUMN benchmark_arms.arm_index IS 'Place in the plan, from 0';
COMMENT ON COLUMN benchmark_arms.name IS 'Name shown';
COMMENT ON COLUMN benchmark_arms.engine IS 'embedded or vllm';
COMMENT ON COLUMN benchmark_arms.method IS 'How tokens are drafted; empty if the server does not say';
COMMENT ON COLUMN benchmark_arms.k IS 'num_speculative_tokens; empty for the baseline';
COMMENT ON COLUMN benchmark_arms.model IS 'Target model';
COMMENT ON COLUMN benchmark_arms.draft IS 'Draft model, head or lookup';
COMMENT ON COLUMN benchmark_arms.server_url IS 'Server that answered; empty for the embedded engine';
COMMENT ON COLUMN benchmark_arms.server_version IS 'Version the server reported';
COMMENT ON COLUMN benchmark_arms.prefix_caching IS 'Whether the server caches prompts (repeated ones are then answered sooner); empty: it does not tell';
COMMENT ON COLUMN benchmark_arms.start_s IS 'Seconds its server took to start; empty where none was started';
COMMENT ON COLUMN benchmark_arms.error IS 'What ended the arm before it was through';

CREATE TABLE rounds (
    round_id               VARCHAR NOT NULL,
    benchmark_id           VARCHAR NOT NULL,
    run_id                 VARCHAR NOT NULL,
    arm_index              INTEGER NOT NULL,
    server_group           INTEGER NOT NULL,
    repetition             INTEGER NOT NULL,
    complete               BOOLEAN NOT NULL,
    server_drafts          BIGINT,
    server_draft_tokens    BIGINT,
    server_accepted_tokens BIGINT,
    memory_bytes           BIGINT,
    memory_source          VARCHAR,
    gpu_utilization        DOUBLE
);
COMMENT ON TABLE rounds IS 'One arm''s pass over the prompts at one temperature and load';
COMMENT ON COLUMN rounds.round_id IS 'Id of the round';
COMMENT ON COLUMN rounds.benchmark_id IS 'Benchmark the round belongs to';
COMMENT ON COLUMN rounds.run_id IS 'Run of the arm at this temperature and load';
COMMENT ON COLUMN rounds.arm_index IS 'Arm, as in benchmark_arms';
COMMENT ON COLUMN rounds.server_group IS 'Arms of one group had their servers up at the same time and were interleaved';
COMMENT ON COLUMN rounds.repetition IS 'Number of the pass, from 0';
COMMENT ON COLUMN rounds.complete IS 'Every request finished in one go, so that the server''s counters cover it exactly';
COMMENT ON COLUMN rounds.server_drafts IS 'Verification steps the server''s /metrics counted during the round';
COMMENT ON COLUMN rounds.server_draft_tokens IS 'Draft tokens the server''s /metrics counted during the round';
COMMENT ON COLUMN rounds.server_accepted_tokens IS 'Accepted tokens the server''s /metrics counted during the round';
COMMENT ON COLUMN rounds.memory_bytes IS 'Most memory seen during the round, bytes';
COMMENT ON COLUMN rounds.memory_source IS 'What was measured: memory on the GPUs or of the processes';
COMMENT ON COLUMN rounds.gpu_utilization IS 'Mean share of time the GPUs were busy, 0 to 1; empty without a GPU';

CREATE TABLE samples (
    request_id        VARCHAR NOT NULL,
    benchmark_id      VARCHAR NOT NULL,
    run_id            VARCHAR NOT NULL,
    round_id          VARCHAR NOT NULL,
    prompt_index      INTEGER NOT NULL,
    turn              INTEGER NOT NULL,
    block             VARCHAR NOT NULL,
    sent_ms           DOUBLE NOT NULL,
    queue_ms          DOUBLE NOT NULL,
    prompt_tokens     INTEGER,
    token_ids         INTEGER[],
    chunk_ms          FLOAT[],
    chunk_tokens      SMALLINT[],
    per_step_accepted SMALLINT[],
    per_step_drafted  SMALLINT[],
    is_chain          BOOLEAN
);
COMMENT ON TABLE samples IS 'What a benchmark''s request told beyond its row in requests';
COMMENT ON COLUMN samples.request_id IS 'Request in requests';
COMMENT ON COLUMN samples.benchmark_id IS 'Benchmark it belongs to';
COMMENT ON COLUMN samples.run_id IS 'Run it belongs to';
COMMENT ON COLUMN samples.round_id IS 'Round it belongs to';
COMMENT ON COLUMN samples.prompt_index IS 'Prompt, as in benchmark_prompts';
COMMENT ON COLUMN samples.turn IS 'Turn of the conversation, from 0';
COMMENT ON COLUMN samples.block IS 'Requests of one block ran together, without another arm in between';
COMMENT ON COLUMN samples.sent_ms IS 'When it was sent, ms since its block began';
COMMENT ON COLUMN samples.queue_ms IS 'How long it waited in the client after it was due, ms';
COMMENT ON COLUMN samples.prompt_tokens IS 'Tokens of the prompt';
COMMENT ON COLUMN samples.token_ids IS 'Tokens of the answer; empty where the server streams text only';
COMMENT ON COLUMN samples.chunk_ms IS 'When each chunk arrived, ms since the request was sent; a chunk is an engine step, or several merged';
COMMENT ON COLUMN samples.chunk_tokens IS 'Tokens in each chunk';
COMMENT ON COLUMN samples.per_step_accepted IS 'Accepted draft tokens of each step that drafted; empty where the server does not tell';
COMMENT ON COLUMN samples.per_step_drafted IS 'Draft tokens of each step that drafted';
COMMENT ON COLUMN samples.is_chain IS 'Whether drafts are one sequence, not a tree';
