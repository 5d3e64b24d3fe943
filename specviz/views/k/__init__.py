"""The K page."""
