"""The verdicts on an answer: the names it needs, and the rule of its category."""

from __future__ import annotations

from collections.abc import Callable

from specviz.training.corpus import Document
from specviz.training.held_out import MAX_TOKENS
from specviz.training.judging.code import wrong_code
from specviz.training.judging.names import names_missing, needed_names
from specviz.training.judging.structure import wrong_structure
from specviz.training.judging.summary import wrong_summary
from specviz.training.judging.verdict import ENDS, NAMES, RIGHT, Answer, Verdict
from specviz.training.judging.wording import wrong_answer, wrong_translation

WRONG: dict[str, Callable[[Document, str], str | None]] = {
    "short_qa": wrong_answer,
    "summarization": wrong_summary,
    "code_generation": wrong_code,
    "translation": wrong_translation,
    "structured_output": wrong_structure,
}
"""By category, why an answer is not right. Any story is right."""

RIGHT_WHEN = {
    "short_qa": "says what the reference says, every number and step",
    "summarization": "has all facts of the reference and none besides the report's",
    "code_generation": "runs and returns what the reference returns",
    "translation": "is the grammar's own",
    "structured_output": "parses and equals the facts",
}


def verdicts(answer: Answer) -> list[Verdict]:
    """What the rules say; names are judged where the prompt gives some that the answer needs."""
    document, found = answer.document, []
    if needed_names(document):
        found.append(_verdict(answer, NAMES, names_missing(document, answer.text)))
    endless = None if answer.ended else _endless(document)
    if wrong := WRONG.get(document.category):
        why_not = endless or wrong(document, answer.text)
        return [*found, _verdict(answer, RIGHT, why_not)]
    return [*found, _verdict(answer, ENDS, endless)]


def _verdict(answer: Answer, rule: str, why_not: str | None) -> Verdict:
    return Verdict(answer.document.category, rule, why_not is None, why_not or "")


def _endless(document: Document) -> str:
    return f"It does not end within {MAX_TOKENS[document.category]} tokens."
