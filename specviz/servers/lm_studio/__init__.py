"""LM Studio's own, read from its documentation (API changelog, 0.3.10); not run against a real one.

stats.py  what an answer says about its drafts
"""
