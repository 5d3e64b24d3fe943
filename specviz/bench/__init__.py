"""Benchmarks: plans, how they run, and their results."""
