"""The client of a running app, for commands."""
