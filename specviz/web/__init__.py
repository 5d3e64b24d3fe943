"""Routes beside the pages: live steps and replays over WebSocket, runs from other processes."""
