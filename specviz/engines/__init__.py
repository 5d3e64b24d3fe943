"""Engines answer a prompt and tell how: a vLLM server, a stored trace."""
