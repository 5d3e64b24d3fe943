"""Checkpoints on disk: whether a draft or head fits its target, read without torch."""
