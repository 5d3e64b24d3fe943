"""From what a server reports of a request to its steps: traced, counted, live or inferred."""
