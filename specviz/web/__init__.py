"""The app's own routes: live steps and replays for the pages, the API for commands."""
