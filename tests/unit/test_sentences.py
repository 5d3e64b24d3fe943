"""A sentence that a user reads is spelled out in one file, so that changing it takes one."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from specviz.paths import DATA, PROJECT_ROOT

SHORTEST = 30
"""Characters. Shorter sentences may be the same by chance."""


def sentences(source: str) -> Iterator[str]:
    """The strings of a program that are whole sentences; docstrings are not among them."""
    tree = ast.parse(source)
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
            yield from (text for text in [node.value.strip()] if is_sentence(text))


def is_sentence(text: str) -> bool:
    return len(text) >= SHORTEST and " " in text and text[0].isupper() and text[-1] in ".?!"


def spelled() -> Iterator[tuple[str, Path]]:
    for folder in ("specviz", "pages"):
        for path in PROJECT_ROOT.glob(f"{folder}/**/*.py"):
            yield from ((text, path) for text in sentences(path.read_text("utf-8")))
    for path in (DATA / "questions").glob("*.toml"):
        for question in tomllib.loads(path.read_text("utf-8"))["question"]:
            yield from ((question[key].strip(), path) for key in ("asks", "says"))


def test_no_sentence_is_in_two_files() -> None:
    files = defaultdict(set)
    for text, path in spelled():
        files[text].add(path.relative_to(PROJECT_ROOT).as_posix())
    assert len(files) > 300
    assert {text: sorted(paths) for text, paths in files.items() if len(paths) > 1} == {}


def test_what_a_sentence_is() -> None:
    source = '''
"""A docstring is not something that a user reads."""
def f(x):
    """Neither is this one, which is a function's own."""
    show("One benchmark at a time, " "or they slow each other down.", f"{x} is too large.")
    """Nor is a string below a name, which says what it is."""
    return "SELECT run_id FROM runs ORDER BY started_at"
'''
    found = list(sentences(source))
    assert found == ["One benchmark at a time, or they slow each other down."]
