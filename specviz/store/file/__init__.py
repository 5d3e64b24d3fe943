"""The database file, or the lake that takes its place."""
