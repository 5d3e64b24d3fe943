"""Figures of the Runs page."""
