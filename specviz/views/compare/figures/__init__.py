"""Figures of the Compare page."""
