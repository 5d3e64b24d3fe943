"""What is vLLM's own: flags, routes, metric names, log, tracing plugin."""
