"""Benchmarks, rounds and samples."""
