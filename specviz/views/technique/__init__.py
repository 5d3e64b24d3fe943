"""The Technique page."""
