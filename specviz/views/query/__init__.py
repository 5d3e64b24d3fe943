"""The Query page."""
