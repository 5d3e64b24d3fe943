"""One request to a server, followed as it streams."""
