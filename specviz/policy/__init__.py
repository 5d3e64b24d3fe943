"""Which K a request may use: the table, its file, and how it is followed while load changes."""
