"""The demo models on vLLM, with and without speculation."""
