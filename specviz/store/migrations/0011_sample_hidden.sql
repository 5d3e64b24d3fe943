-- Whether the sample that ships with specviz is hidden.

CREATE TABLE sample_hidden (
    hidden_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE sample_hidden IS 'One row while the sample that ships with specviz is hidden';
COMMENT ON COLUMN sample_hidden.hidden_at IS 'When it was hidden, UTC';
