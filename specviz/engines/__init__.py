"""Engines that answer prompts and report every draft: the embedded one, and stored traces."""
