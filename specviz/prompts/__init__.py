"""Prompts: the shipped ones, sets drawn from them, files of your own."""
