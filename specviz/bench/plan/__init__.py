"""Benchmark plans: what they ask, as TOML, laid out in time, and whether a machine can run them."""
