"""An answer to be judged, and what a rule says about it."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.training.corpus import Document

NAMES, RIGHT, ENDS = "names copied", "right", "ends"
RULES = (NAMES, RIGHT, ENDS)
"""`RIGHT` means something else in every category: see `judge.RIGHT_WHEN`."""


@dataclass(frozen=True)
class Answer:
    """A model's answer to the prompt of `document`; `ended`: with the end token, not by length."""

    document: Document
    text: str
    ended: bool


@dataclass(frozen=True)
class Verdict:
    """What `rule`, one of `RULES`, says about an answer. `why_not`: a sentence, "" if passed."""

    category: str
    rule: str
    passed: bool
    why_not: str
