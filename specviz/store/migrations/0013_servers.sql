-- Inference servers that people named. Of an API key only the variable's name is kept.

CREATE TABLE servers (
    name        VARCHAR NOT NULL,
    url         VARCHAR NOT NULL,
    kind        VARCHAR,
    key_env     VARCHAR,
    labels      VARCHAR[] NOT NULL,
    baseline_of VARCHAR,
    added_at    TIMESTAMP NOT NULL
);
COMMENT ON TABLE servers IS 'Inference servers that people named';
COMMENT ON COLUMN servers.name IS 'Name shown, and given in plans and commands; each is there once';
COMMENT ON COLUMN servers.url IS 'Root of the API, without /v1';
COMMENT ON COLUMN servers.kind IS 'Kind of server that is expected there, as in runs.engine; NULL: recognised by asking';
COMMENT ON COLUMN servers.key_env IS 'Name of the environment variable with the API key; never the key';
COMMENT ON COLUMN servers.labels IS 'What people call it besides: GPU box, H100';
COMMENT ON COLUMN servers.baseline_of IS 'Name of the server whose plain decoding this one is';
COMMENT ON COLUMN servers.added_at IS 'When it was added, UTC';
