"""Judging the target's answers by rule, against the answers that the corpus has for them.

One file per kind of text holds its rule: a function of a held-out exchange and the answer's text
that gives the reason why it fails, or None. `judge.py` puts them together, `tally.py` counts. The
rules are strict where the grammar has one wording, so their figures are lower bounds of what a
reader would let pass.
"""
