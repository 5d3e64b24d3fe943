-- Ten million decisions: probabilities in the 32 bits that engines compute them in, and the time
-- of the request beside its id, which ascends: what is looked for is found without reading the rest.

ALTER TABLE steps RENAME TO steps_before;
CREATE TABLE steps (
    started_at     TIMESTAMP NOT NULL,
    request_id     VARCHAR NOT NULL,
    step_index     INTEGER NOT NULL,
    elapsed_ms     DOUBLE NOT NULL,
    draft_ms       FLOAT,
    verify_ms      FLOAT,
    wall_ms        FLOAT,
    emitted        STRUCT("position" INTEGER, token_id INTEGER, "text" VARCHAR, origin VARCHAR)[] NOT NULL,
    spans          STRUCT(lane VARCHAR, start_ms DOUBLE, end_ms DOUBLE)[],
    skipped_layers VARCHAR[],
    matched_tokens INTEGER
);
INSERT INTO steps BY NAME
    SELECT requests.started_at, steps_before.* FROM steps_before JOIN requests USING (request_id)
    ORDER BY started_at, request_id, step_index;
DROP TABLE steps_before;
COMMENT ON TABLE steps IS 'One engine step: when it ended and what came out';
COMMENT ON COLUMN steps.started_at IS 'When the request was sent, UTC: the same in all its steps';
COMMENT ON COLUMN steps.request_id IS 'Request the step belongs to';
COMMENT ON COLUMN steps.step_index IS 'Number of the step in its request, from 0';
COMMENT ON COLUMN steps.elapsed_ms IS 'End of the step, ms since the request was sent';
COMMENT ON COLUMN steps.draft_ms IS 'Time to draft, ms; empty where it cannot be observed';
COMMENT ON COLUMN steps.verify_ms IS 'Time of the target to verify, ms; empty where it cannot be observed';
COMMENT ON COLUMN steps.wall_ms IS 'Time of the whole step, ms: less than draft + verify where they overlap';
COMMENT ON COLUMN steps.emitted IS 'Output tokens of the step; origin: accepted, recovered (drawn after a rejection), bonus (after a fully accepted draft), target (nothing was drafted) or unknown';
COMMENT ON COLUMN steps.spans IS 'When each lane (draft, verify) was at work, ms since the request was sent; empty where the engine does not tell';
COMMENT ON COLUMN steps.skipped_layers IS 'Sublayers of the target that drafting left out (attention 3, mlp 5, from 0); empty for methods that skip none';
COMMENT ON COLUMN steps.matched_tokens IS 'How many of the last tokens a lookup found again earlier; empty for methods that look nothing up';

ALTER TABLE decisions RENAME TO decisions_before;
CREATE TABLE decisions (
    started_at  TIMESTAMP NOT NULL,
    request_id  VARCHAR NOT NULL,
    step_index  INTEGER NOT NULL,
    draft_index SMALLINT NOT NULL,
    depth       SMALLINT NOT NULL,
    parent      SMALLINT NOT NULL,
    token_id    INTEGER,
    "text"      VARCHAR,
    verdict     VARCHAR NOT NULL,
    draft_prob  FLOAT,
    target_prob FLOAT,
    accept_prob FLOAT,
    u           FLOAT,
    target_top  STRUCT(token_id INTEGER, "text" VARCHAR, prob FLOAT)[] NOT NULL
);
INSERT INTO decisions BY NAME
    SELECT requests.started_at, decisions_before.* REPLACE (
        -- a rejected token's u stays above what it was held against
        CASE WHEN u > accept_prob AND u::FLOAT = accept_prob::FLOAT
            THEN nextafter(accept_prob::FLOAT, 0::FLOAT) ELSE accept_prob::FLOAT END AS accept_prob
    )
    FROM decisions_before JOIN requests USING (request_id)
    ORDER BY started_at, request_id, step_index, draft_index;
DROP TABLE decisions_before;
COMMENT ON TABLE decisions IS 'One drafted token and what became of it';
COMMENT ON COLUMN decisions.started_at IS 'When the request was sent, UTC: the same in all its decisions';
COMMENT ON COLUMN decisions.request_id IS 'Request the token was drafted for';
COMMENT ON COLUMN decisions.step_index IS 'Step that verified the token';
COMMENT ON COLUMN decisions.draft_index IS 'Place of the token in the step''s draft, from 0';
COMMENT ON COLUMN decisions.depth IS 'Tokens from the context to this one, from 1';
COMMENT ON COLUMN decisions.parent IS 'draft_index of the token before, -1 for the first level';
COMMENT ON COLUMN decisions.token_id IS 'Drafted token; empty where the server only counts rejected ones';
COMMENT ON COLUMN decisions."text" IS 'Text of the drafted token';
COMMENT ON COLUMN decisions.verdict IS 'accepted, rejected or unverified (after a rejection, never judged)';
COMMENT ON COLUMN decisions.draft_prob IS 'Probability the drafter gave the token';
COMMENT ON COLUMN decisions.target_prob IS 'Probability the target gave the token, after temperature and top-p';
COMMENT ON COLUMN decisions.accept_prob IS 'Probability to accept the token: min(1, target_prob / draft_prob) or what the method''s rule makes of them';
COMMENT ON COLUMN decisions.u IS 'Random number drawn: accepted if u <= accept_prob; empty at temperature 0';
COMMENT ON COLUMN decisions.target_top IS 'The most probable tokens of the target at this place';
