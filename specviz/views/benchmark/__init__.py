"""The Benchmark page."""
