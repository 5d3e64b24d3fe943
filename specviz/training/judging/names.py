"""Which names an answer needs: what the prompt gives and the reference answer repeats.

Names are words, identifiers, numbers and quoted strings. Copying is all that counts here: whether
they stand in the right places is for the rule of the category.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from specviz.training.corpus import Document
from specviz.training.judging.programs import parsed_program, without_docstrings
from specviz.training.judging.words import FUNCTION_WORDS, words
from specviz.training.texts.story_words import SETTINGS

_LIST = re.compile(r"\w+(?:, \w+)+(?: and \w+)?")


def needed_names(document: Document) -> dict[str, set[str]]:
    """The names that the answer needs, in order, each with the spellings that count.

    Outside of code a name may be spelt as in the prompt or as in the reference: "Oxygen" begins a
    sentence where the prompt has "oxygen". A translation repeats none: names change their script.
    """
    if document.category == "translation":
        return {}
    given = words(document.prompt)
    if document.category == "code_generation":
        return {name: {name} for name in _in_program(document.answer) if name in set(given)}
    if document.category == "creative_writing":
        given = _of_story(document)
    spellings: dict[str, set[str]] = {}
    for word in given:
        spellings.setdefault(word.casefold(), set()).add(word)
    needed: dict[str, set[str]] = {}
    for word in words(document.answer):
        if word.casefold() in spellings and word.casefold() not in FUNCTION_WORDS:
            needed.setdefault(word.casefold(), set(spellings[word.casefold()])).add(word)
    if document.category == "short_qa":
        _allow_choices(document, needed)
    return needed


def _allow_choices(document: Document, needed: dict[str, set[str]]) -> None:
    """Where the answer is an entry of a list, any entry is copied: which one is another rule's."""
    for found in _LIST.findall(document.prompt):
        listed = [entry for entry in words(found) if entry not in FUNCTION_WORDS]
        chosen = [needed[entry.casefold()] for entry in listed if entry.casefold() in needed]
        if len(chosen) < len(listed):
            for spellings in chosen:
                spellings.update(listed)


def names_missing(document: Document, text: str) -> str | None:
    """A sentence on the names that `text` lacks, None if it has all."""
    said = set(words(text))
    missing = [name for name, forms in needed_names(document).items() if not forms & said]
    return f"It does not have {', '.join(map(repr, missing))}." if missing else None


def _of_story(document: Document) -> list[str]:
    """What a story must be about. The instruction around it is in the prompt, not in the content.

    A letter need not name the place that it comes from.
    """
    kind, *_ = content = words(document.content)
    if kind not in ("letter", "poem"):
        return content
    place = next((place for place in SETTINGS if place in document.content), "")
    return [word for word in content[1:] if word not in words(place)]


def _in_program(answer: str) -> Iterator[str]:
    """Names and values of a program, except those that its author may choose or Python has."""
    tree = without_docstrings(parsed_program(answer))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    own -= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own -= _fields(tree)
    for node in ast.walk(tree):
        for name in _named(node):
            if name not in own and (name.endswith("Error") or name not in vars(builtins)):
                yield name


def _fields(tree: ast.AST) -> set[str]:
    """The fields of dataclasses: their names are asked for."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {
        entry.target.id
        for one in classes
        for entry in one.body
        if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name)
    }


def _named(node: ast.AST) -> list[str]:
    """The words and numbers that stand in a node itself."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.arg(arg=name) | ast.Name(id=name):
            return [name]
        case ast.Constant(value=str(text)):
            return words(text)
        case ast.Constant(value=bool()):
            return []
        case ast.Constant(value=int() | float() as number):
            return [str(number)]
        case _:
            return []
