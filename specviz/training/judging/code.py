"""Code: it runs and returns what was asked, that is what the reference returns.

Candidate and reference get the same trials, each in its own process. What cannot be tried (source
of the standard library, which needs the rest of its module) is compared as a tree.
"""

from __future__ import annotations

import ast
import re
from functools import cache

from specviz.training.corpus import Document
from specviz.training.judging.child import RAISED
from specviz.training.judging.process import Stopped, outcomes
from specviz.training.judging.programs import normalised, parsed_program, program_of
from specviz.training.judging.trials import Trial, trials_of

_OF_MODULE = re.compile(r"[\w.]+\.\w+")
_NOT_TAKEN = (f"{RAISED}TypeError", f"{RAISED}AttributeError")


def wrong_code(document: Document, text: str) -> str | None:
    """Why the program in `text` does not do what the reference does."""
    try:
        tree = parsed_program(text)
    except SyntaxError as error:
        return f"It is not Python: {error.msg}."
    reference = parsed_program(document.answer)
    trials = [] if _OF_MODULE.fullmatch(document.content) else trials_of(reference)
    if trials and (why_not := _tried(document, text, trials)):
        return why_not
    if trials and len(set(_wanted(document))) > 1:
        return None
    if normalised(tree) == normalised(reference):
        return None
    if trials:
        return "It is not the reference's code, which gives the same for every input."
    return f"It is not the code of {document.content}."


def _tried(document: Document, text: str, trials: list[Trial]) -> str | None:
    source = program_of(text)
    assert source is not None, "it has been parsed"
    wanted = _wanted(document)
    try:
        found = outcomes(source, trials)
    except Stopped as stopped:
        return str(stopped)
    for trial, got, right in zip(trials, found, wanted, strict=True):
        if got != right and not (trial.get("loose") and right.startswith(_NOT_TAKEN)):
            return f"{described(trial)} {got}; the reference {right}."
    return None


@cache
def _wanted(document: Document) -> list[str]:
    """The outcomes of the reference."""
    source = program_of(document.answer)
    assert source is not None, "the corpus fences its programs"
    return outcomes(source, trials_of(ast.parse(source)))


def described(trial: Trial) -> str:
    """A trial as the subject of a sentence."""
    if "call" in trial:
        given = [*map(repr, trial["args"]), *(f"{k}={v!r}" for k, v in trial["kwargs"].items())]
        return f"{trial['call']}({', '.join(given)})"
    if "signature" in trial:
        return str(trial["signature"])
    if "argv" in trial:
        return f"With {' '.join(trial['argv'])} it"
    if trial["wrong"] is None:
        return f"The test of {trial['tests_of']}"
    return f"The test of a {trial['tests_of']} that is wrong for {tuple(trial['wrong'])}"
