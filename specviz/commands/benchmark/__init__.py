"""`specviz bench`: a plan with progress, its tables, and benchmarks that are stored."""
