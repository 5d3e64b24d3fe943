"""The Cost page's figures as tables of text. Pure."""

from __future__ import annotations

import pandas as pd

from specviz.analysis.cost.answer import Answer, answer
from specviz.analysis.cost.basis import Basis, Way
from specviz.analysis.cost.payback import Payback
from specviz.analysis.cost.request import cost_per_request
from specviz.analysis.text import digits, dollars, dollars_with, percent, percent_with
from specviz.views.cost.case import Case

WORDS = frozenset({"technique", "verdict", "training paid back"})
"""Columns of words."""


def techniques_table(case: Case) -> pd.DataFrame:
    """The baseline and every technique at the case's concurrency."""
    question = case.question
    base = answer(question)
    rows = [
        {
            "technique": case.basis.baseline.name,
            "requests/h": digits(question.baseline.requests_per_hour.value),
            "$ per request": dollars(base.baseline_per_request),
            "$ per million tok": dollars(base.baseline_per_million_tokens),
        }
    ]
    for way, asked in case.techniques():
        found = answer(asked)
        million = found.per_million_tokens
        rows.append(
            {
                "technique": way.name,
                "requests/h": digits(asked.method.requests_per_hour.value),
                "$ per request": dollars(found.per_request.value),
                "$ per million tok": None if million is None else dollars(million.value),
                "saving": percent_with(found.saving_share),
                "saving per month": dollars_with(found.saving_per_month),
                "verdict": found.verdict and found.verdict.value,
                "one training": dollars(asked.training.usd) if asked.training.usd else None,
                "training paid back": _after(found.payback),
            }
        )
    return pd.DataFrame(rows)


def load_table(basis: Basis, way: Way, usd_per_hour: float) -> pd.DataFrame:
    """Requests per hour and their cost by concurrency, with and without speculation."""
    rows = []
    for at in basis.concurrencies(way):
        plain = basis.baseline.served[at].requests_per_hour.value
        fast = way.served[at].requests_per_hour.value
        rows.append(
            {
                "concurrency": "unknown" if at is None else str(at),
                "requests/h without": digits(plain),
                "requests/h with": digits(fast),
                "$ per request without": dollars(cost_per_request(usd_per_hour, plain)),
                "$ per request with": dollars(cost_per_request(usd_per_hour, fast)),
                "saving": percent(1 - plain / fast),
            }
        )
    return pd.DataFrame(rows)


def _after(found: Payback) -> str:
    return f"after {digits(found.days)} days" if found.days else found.outcome.value


def payback_text(found: Answer) -> str:
    """The payback, and at both ends of the interval where there is one."""
    best, worst = found.payback_best, found.payback_worst
    text = f"after {found.payback.text}" if found.payback.days else found.payback.text
    if best is None or worst is None or best == worst:
        return text
    return f"{text} (95 %: {best.text} to {worst.text})"
