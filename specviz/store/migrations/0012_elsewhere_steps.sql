-- What other tools tell of single requests' drafts, and of requests that a file does not count.

ALTER TABLE elsewhere ALTER COLUMN num_requests DROP NOT NULL;
COMMENT ON COLUMN elsewhere.num_requests IS 'Requests that finished; empty where the file does not tell';
COMMENT ON COLUMN elsewhere.tool IS 'Tool that measured them, such as vllm bench serve, aiperf or specspecs';
COMMENT ON COLUMN elsewhere.method IS 'How tokens were drafted, as the importing person says or the file tells';

ALTER TABLE elsewhere_requests ADD COLUMN sequence VARCHAR;
ALTER TABLE elsewhere_requests ADD COLUMN prompt_token_ids INTEGER[];
ALTER TABLE elsewhere_requests ADD COLUMN num_drafts INTEGER;
ALTER TABLE elsewhere_requests ADD COLUMN num_draft_tokens INTEGER;
ALTER TABLE elsewhere_requests ADD COLUMN num_accepted_tokens INTEGER;
ALTER TABLE elsewhere_requests ADD COLUMN steps STRUCT(
    step_index INTEGER, elapsed_ms DOUBLE, num_draft_tokens INTEGER, num_accepted_tokens INTEGER,
    draft_token_ids INTEGER[], draft_probs DOUBLE[], next_token_id INTEGER)[];
COMMENT ON COLUMN elsewhere_requests.sequence IS 'What the file calls the request, or the server''s slot where it does not tell requests apart';
COMMENT ON COLUMN elsewhere_requests.prompt_token_ids IS 'Token ids of the prompt, where the file has them';
COMMENT ON COLUMN elsewhere_requests.num_drafts IS 'Steps that verified at least one draft token';
COMMENT ON COLUMN elsewhere_requests.num_draft_tokens IS 'Draft tokens';
COMMENT ON COLUMN elsewhere_requests.num_accepted_tokens IS 'Draft tokens that the target accepted';
COMMENT ON COLUMN elsewhere_requests.steps IS 'Its drafting steps in order: draft tokens and how many of them were accepted; ids, the draft''s probability of each and the target''s token after them where the file has them';
