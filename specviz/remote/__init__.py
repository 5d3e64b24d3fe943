"""The client of a running app: what commands do through the app that owns the database."""
