"""Load generators that several benchmarks start."""
