-- Output that is not the answer's text: thinking, tool calls, refusals. Empty in requests that were
-- stored before, of which only the answer's text was read.

ALTER TABLE steps ADD COLUMN channels VARCHAR[];
COMMENT ON COLUMN steps.channels IS 'What each token in emitted is part of: answer, reasoning, tool_call, refusal or markup (of these: the server sends no text for it); empty where all are the answer''s text';
ALTER TABLE requests ADD COLUMN side_text VARCHAR;
COMMENT ON COLUMN requests.side_text IS 'Output beside the answer''s text, in order: thinking, tool calls, a refusal; empty where there is none';
ALTER TABLE requests ADD COLUMN ttfo_ms DOUBLE;
COMMENT ON COLUMN requests.ttfo_ms IS 'Time to the first token of the answer''s text, ms: behind ttft_ms where the model thinks first; empty where the answer has no text';
