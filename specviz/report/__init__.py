"""Runs and benchmarks as one HTML file for people, and every other way out of a store."""

from specviz.report.export import export

__all__ = ["export"]
