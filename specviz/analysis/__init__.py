"""Numbers in, numbers out: pure functions over traces."""
