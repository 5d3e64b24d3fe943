"""Runs, requests, steps and decisions."""
