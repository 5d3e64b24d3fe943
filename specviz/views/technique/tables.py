"""The recommendation as tables. Pure."""

from __future__ import annotations

import pandas as pd

from specviz.analysis.advisor.contradictions import Contradiction
from specviz.analysis.advisor.draft import Check
from specviz.analysis.advisor.evidence import Evidence, Figure
from specviz.analysis.advisor.node import Node
from specviz.analysis.advisor.sentences import evidence_text, figure_text


def figures_table(figures: tuple[Figure, ...]) -> pd.DataFrame:
    """Expected figures, one line per source; blank where a source does not have one."""
    names = list(dict.fromkeys(figure.name for figure in figures))
    lines: dict[Evidence, dict[str, str]] = {}
    for figure in figures:
        lines.setdefault(figure.evidence, {})[figure.name] = figure_text(figure)
    return pd.DataFrame(
        [
            {name: cells.get(name, "") for name in names} | {"evidence": str(source)}
            for source, cells in lines.items()
        ]
    )


def questions_table(nodes: list[Node]) -> pd.DataFrame:
    """Every question, its answer, what it rests on, how far it is from flipping."""
    return pd.DataFrame(
        {
            "question": [node.question for node in nodes],
            "answer": [node.answer_text for node in nodes],
            "value": [node.value_text for node in nodes],
            "distance": [node.flip for node in nodes],
            "answer from": [str(node.source) if node.source else "" for node in nodes],
            "rule from": [str(node.rule) if node.rule else "" for node in nodes],
            "on the path": ["yes" if node.on_path else "" for node in nodes],
        }
    )


def contradiction_rows(found: tuple[Contradiction, ...]) -> pd.DataFrame:
    """Both sides with their evidence, and which was followed."""
    return pd.DataFrame(
        {
            "says": [_side(one.says, one.says_evidence) for one in found],
            "but": [_side(one.but, one.but_evidence) for one in found],
            "followed": [one.wins for one in found],
        }
    )


MARKS = {"pass": "✓ pass", "fail": "✗ fail", "unknown": "? unknown"}


def checks_table(checks: tuple[Check, ...]) -> pd.DataFrame:
    """One line per check of a draft."""
    return pd.DataFrame(
        {
            "check": [check.name for check in checks],
            "verdict": [MARKS[check.verdict] for check in checks],
            "found": [check.finding for check in checks],
            "what to do": [check.advice for check in checks],
            "rule": [check.evidence.text if check.evidence else "" for check in checks],
        }
    )


def _side(text: str, evidence: Evidence | None) -> str:
    return text if evidence is None else f"{text} [{evidence_text(evidence)}]"
