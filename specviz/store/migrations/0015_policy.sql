-- Servers that give every request its own K: what a request asked for, and what each step allowed.

ALTER TABLE runs ADD COLUMN spec_k INTEGER;
COMMENT ON COLUMN runs.spec_k IS 'K that the requests asked the server''s policy for; empty where they left it to the policy';
ALTER TABLE steps ADD COLUMN allowed STRUCT(k INTEGER, reason VARCHAR);
COMMENT ON COLUMN steps.allowed IS 'The most draft tokens that the server''s policy allowed in this step, and what decided; empty without a policy';
