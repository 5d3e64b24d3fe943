"""Figures of the Benchmark page."""
