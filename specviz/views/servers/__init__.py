"""The Servers page."""
