"""Routes beside the pages: live steps, replays, and what commands hand to a running app."""
