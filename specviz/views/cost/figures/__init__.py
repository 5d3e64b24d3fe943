"""Figures of the Cost page."""
