-- Views of the Runs list that people named.

CREATE TABLE saved_views (
    name     VARCHAR NOT NULL,
    settings JSON NOT NULL,
    saved_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE saved_views IS 'Views of the Runs list that people saved';
COMMENT ON COLUMN saved_views.name IS 'Name shown; saving under a name again replaces it';
COMMENT ON COLUMN saved_views.settings IS 'Filters, lines, order and columns, by their names in the page''s address; what is not in it is at its default';
COMMENT ON COLUMN saved_views.saved_at IS 'When it was saved, UTC';
