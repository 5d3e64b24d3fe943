-- No keys, constraints or ENUMs: one writer keeps ids unique, and lake formats have none of them.
-- Times of day are UTC. Durations are milliseconds, probabilities and rates 0 to 1.

CREATE TABLE runs (
    run_id          VARCHAR NOT NULL,
    group_id        VARCHAR NOT NULL,
    status          VARCHAR NOT NULL,
    started_at      TIMESTAMP NOT NULL,
    finished_at     TIMESTAMP,
    error           VARCHAR,
    engine          VARCHAR NOT NULL,
    method          VARCHAR,
    k               SMALLINT,
    model           VARCHAR,
    draft           VARCHAR,
    server_url      VARCHAR,
    server_version  VARCHAR,
    traced          BOOLEAN NOT NULL,
    temperature     DOUBLE NOT NULL,
    top_p           DOUBLE NOT NULL,
    max_tokens      INTEGER NOT NULL,
    seed            BIGINT,
    concurrency     INTEGER NOT NULL,
    prompt_set      VARCHAR,
    hardware        VARCHAR,
    git_revision    VARCHAR,
    options         JSON NOT NULL,
    specviz_version VARCHAR NOT NULL
);
COMMENT ON TABLE runs IS 'One arm: its configuration, complete enough to do it again, and what became of it';
COMMENT ON COLUMN runs.run_id IS 'Id of the run';
COMMENT ON COLUMN runs.group_id IS 'Shared by the arms that were started together to be compared';
COMMENT ON COLUMN runs.status IS 'running, finished, partial (interrupted, what arrived is kept), failed or cancelled';
COMMENT ON COLUMN runs.started_at IS 'When the run was started, UTC';
COMMENT ON COLUMN runs.finished_at IS 'When the run ended, UTC; empty while running and after a crash';
COMMENT ON COLUMN runs.error IS 'Why the run did not finish';
COMMENT ON COLUMN runs.engine IS 'embedded or vllm';
COMMENT ON COLUMN runs.method IS 'How tokens were drafted (baseline: plain decoding); empty if the server does not say';
COMMENT ON COLUMN runs.k IS 'num_speculative_tokens: tokens drafted per step at most; empty for the baseline';
COMMENT ON COLUMN runs.model IS 'Target model';
COMMENT ON COLUMN runs.draft IS 'Draft model, head or lookup';
COMMENT ON COLUMN runs.server_url IS 'Server that answered; empty for the embedded engine';
COMMENT ON COLUMN runs.server_version IS 'Version the server reported';
COMMENT ON COLUMN runs.traced IS 'Whether decisions were traced: a traced run is for looking, an untraced one for timing';
COMMENT ON COLUMN runs.temperature IS 'Sampling temperature, 0 is greedy';
COMMENT ON COLUMN runs.top_p IS 'Nucleus sampling, 1 is off';
COMMENT ON COLUMN runs.max_tokens IS 'Output tokens per request at most';
COMMENT ON COLUMN runs.seed IS 'Sampling seed; empty if none was set';
COMMENT ON COLUMN runs.concurrency IS 'Requests in flight at the same time';
COMMENT ON COLUMN runs.prompt_set IS 'Category or set the prompts came from';
COMMENT ON COLUMN runs.hardware IS 'Processor or accelerator it ran on';
COMMENT ON COLUMN runs.git_revision IS 'Git revision of specviz';
COMMENT ON COLUMN runs.options IS 'Further options of the method, names and values as text';
COMMENT ON COLUMN runs.specviz_version IS 'Version of specviz that stored the run';

CREATE TABLE requests (
    request_id              VARCHAR NOT NULL,
    run_id                  VARCHAR NOT NULL,
    status                  VARCHAR NOT NULL,
    error                   VARCHAR,
    started_at              TIMESTAMP NOT NULL,
    prompt_id               VARCHAR,
    category                VARCHAR,
    prompt                  VARCHAR NOT NULL,
    prompt_max_tokens       INTEGER,
    prompt_token_ids        INTEGER[],
    fidelity                VARCHAR,
    finish_reason           VARCHAR,
    output_text             VARCHAR,
    ttft_ms                 DOUBLE,
    e2el_ms                 DOUBLE,
    tpot_ms                 DOUBLE,
    num_steps               INTEGER,
    num_drafts              INTEGER,
    num_draft_tokens        INTEGER,
    num_accepted_tokens     INTEGER,
    draft_acceptance_rate   DOUBLE,
    mean_acceptance_length  DOUBLE,
    alpha                   DOUBLE,
    acceptance_rate_per_pos DOUBLE[],
    output_tokens           INTEGER,
    tokens_per_step         DOUBLE,
    tokens_per_s            DOUBLE
);
COMMENT ON TABLE requests IS 'One prompt answered in a run, with the figures of the answer';
COMMENT ON COLUMN requests.request_id IS 'Id of the request';
COMMENT ON COLUMN requests.run_id IS 'Run the request belongs to';
COMMENT ON COLUMN requests.status IS 'running, finished, partial (interrupted, what arrived is kept), failed or cancelled';
COMMENT ON COLUMN requests.error IS 'Why the request did not finish';
COMMENT ON COLUMN requests.started_at IS 'When the request was sent, UTC';
COMMENT ON COLUMN requests.prompt_id IS 'Id in its prompt set; empty for a typed prompt';
COMMENT ON COLUMN requests.category IS 'Category of the prompt; empty for a typed prompt';
COMMENT ON COLUMN requests.prompt IS 'Text of the prompt';
COMMENT ON COLUMN requests.prompt_max_tokens IS 'Output tokens the prompt asks for at most; empty: those of the run';
COMMENT ON COLUMN requests.prompt_token_ids IS 'Tokens of the prompt, chat template included';
COMMENT ON COLUMN requests.fidelity IS 'traced (draft tokens and probabilities), counted (exact counts per step) or inferred (from chunk sizes); empty: never started';
COMMENT ON COLUMN requests.finish_reason IS 'stop, length, ... as the engine says; empty if incomplete';
COMMENT ON COLUMN requests.output_text IS 'Text of the answer';
COMMENT ON COLUMN requests.ttft_ms IS 'Time to first token, ms since the request was sent';
COMMENT ON COLUMN requests.e2el_ms IS 'Time to the last token, ms since the request was sent';
COMMENT ON COLUMN requests.tpot_ms IS 'Time per output token after the first, ms';
COMMENT ON COLUMN requests.num_steps IS 'Engine steps that gave output';
COMMENT ON COLUMN requests.num_drafts IS 'Steps that verified at least one draft token';
COMMENT ON COLUMN requests.num_draft_tokens IS 'Draft tokens';
COMMENT ON COLUMN requests.num_accepted_tokens IS 'Draft tokens that the target accepted';
COMMENT ON COLUMN requests.draft_acceptance_rate IS 'num_accepted_tokens / num_draft_tokens';
COMMENT ON COLUMN requests.mean_acceptance_length IS '1 + num_accepted_tokens / num_drafts: tokens per drafted step, the recovered or bonus token included';
COMMENT ON COLUMN requests.alpha IS 'Accepted / judged draft tokens: a token after a rejection was never judged';
COMMENT ON COLUMN requests.acceptance_rate_per_pos IS 'Accepted at depth 1, 2, ... / num_drafts';
COMMENT ON COLUMN requests.output_tokens IS 'Output tokens; empty where a server streams text without ids';
COMMENT ON COLUMN requests.tokens_per_step IS 'output_tokens / num_steps';
COMMENT ON COLUMN requests.tokens_per_s IS 'output_tokens per second of e2el_ms';

CREATE TABLE steps (
    request_id VARCHAR NOT NULL,
    step_index INTEGER NOT NULL,
    elapsed_ms DOUBLE NOT NULL,
    draft_ms   DOUBLE,
    verify_ms  DOUBLE,
    wall_ms    DOUBLE,
    emitted    STRUCT("position" INTEGER, token_id INTEGER, "text" VARCHAR, origin VARCHAR)[] NOT NULL
);
COMMENT ON TABLE steps IS 'One engine step: when it ended and what came out';
COMMENT ON COLUMN steps.request_id IS 'Request the step belongs to';
COMMENT ON COLUMN steps.step_index IS 'Number of the step in its request, from 0';
COMMENT ON COLUMN steps.elapsed_ms IS 'End of the step, ms since the request was sent';
COMMENT ON COLUMN steps.draft_ms IS 'Time to draft, ms; empty where it cannot be observed';
COMMENT ON COLUMN steps.verify_ms IS 'Time of the target to verify, ms; empty where it cannot be observed';
COMMENT ON COLUMN steps.wall_ms IS 'Time of the whole step, ms: less than draft + verify where they overlap';
COMMENT ON COLUMN steps.emitted IS 'Output tokens of the step; origin: accepted, recovered (drawn after a rejection), bonus (after a fully accepted draft), target (nothing was drafted) or unknown';

CREATE TABLE decisions (
    request_id  VARCHAR NOT NULL,
    step_index  INTEGER NOT NULL,
    draft_index SMALLINT NOT NULL,
    depth       SMALLINT NOT NULL,
    parent      SMALLINT NOT NULL,
    token_id    INTEGER,
    "text"      VARCHAR,
    verdict     VARCHAR NOT NULL,
    draft_prob  DOUBLE,
    target_prob DOUBLE,
    accept_prob DOUBLE,
    u           DOUBLE,
    target_top  STRUCT(token_id INTEGER, "text" VARCHAR, prob DOUBLE)[] NOT NULL
);
COMMENT ON TABLE decisions IS 'One drafted token and what became of it';
COMMENT ON COLUMN decisions.request_id IS 'Request the token was drafted for';
COMMENT ON COLUMN decisions.step_index IS 'Step that verified the token';
COMMENT ON COLUMN decisions.draft_index IS 'Place of the token in the step''s draft, from 0';
COMMENT ON COLUMN decisions.depth IS 'Tokens from the context to this one, from 1';
COMMENT ON COLUMN decisions.parent IS 'draft_index of the token before, -1 for the first level';
COMMENT ON COLUMN decisions.token_id IS 'Drafted token; empty where the server only counts rejected ones';
COMMENT ON COLUMN decisions.text IS 'Text of the drafted token';
COMMENT ON COLUMN decisions.verdict IS 'accepted, rejected or unverified (after a rejection, never judged)';
COMMENT ON COLUMN decisions.draft_prob IS 'Probability the drafter gave the token';
COMMENT ON COLUMN decisions.target_prob IS 'Probability the target gave the token, after temperature and top-p';
COMMENT ON COLUMN decisions.accept_prob IS 'Probability to accept the token: min(1, target_prob / draft_prob) or what the method''s rule makes of them';
COMMENT ON COLUMN decisions.u IS 'Random number drawn: accepted if u <= accept_prob; empty at temperature 0';
COMMENT ON COLUMN decisions.target_top IS 'The most probable tokens of the target at this place';
