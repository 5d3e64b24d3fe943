"""Many requests to a server at once, at little cost to the machine."""
