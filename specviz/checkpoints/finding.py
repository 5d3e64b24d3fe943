"""What a check of a checkpoint found: one sentence per rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    OK = "ok"
    WARNING = "warning"  # it can run, but not everywhere, or not as its maker meant it
    REFUSED = "refused"  # it cannot run, or what it drafts is noise


@dataclass(frozen=True, slots=True)
class Finding:
    """`subject`: what was looked at; `sentence`: what was found and what to do about it;
    `source`: where the rule comes from, empty for one of arithmetic."""

    verdict: Verdict
    subject: str
    sentence: str
    source: str = ""


def ok(subject: str, sentence: str, source: str = "") -> Finding:
    return Finding(Verdict.OK, subject, sentence, source)


def warning(subject: str, sentence: str, source: str = "") -> Finding:
    return Finding(Verdict.WARNING, subject, sentence, source)


def refused(subject: str, sentence: str, source: str = "") -> Finding:
    return Finding(Verdict.REFUSED, subject, sentence, source)
