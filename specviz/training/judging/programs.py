"""Python programs in answers: taken out of their fence, parsed, and compared as trees."""

from __future__ import annotations

import ast
import re
import warnings

_FENCED = re.compile(r"\s*```(?:python)?\n(.*?)\n```\s*", re.DOTALL)


def program_of(answer: str) -> str | None:
    """The source in an answer that is one fenced program, else None."""
    found = _FENCED.fullmatch(answer)
    return found[1] if found else None


def parsed_program(answer: str) -> ast.Module:
    """The tree of the fenced program in `answer`. Raises SyntaxError, also where there is none."""
    source = program_of(answer)
    if source is None:
        raise SyntaxError("it is not one fenced program")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an escape that Python does not know
        try:
            return ast.parse(source)
        except (ValueError, RecursionError, MemoryError) as error:  # a null byte; too many brackets
            raise SyntaxError(str(error) or "it is nested too deep") from error


def without_docstrings(tree: ast.Module) -> ast.Module:
    """`tree`, changed in place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str())), *rest]:
                    node.body = rest or [ast.Pass()]
    return tree


def normalised(tree: ast.Module) -> str:
    """What two programs have in common that differ in names of local variables, docstrings,
    annotations and layout only."""
    without_docstrings(tree)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        _rename(function)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.FunctionDef):
            node.returns = None
    return ast.dump(tree)


def _rename(function: ast.FunctionDef) -> None:
    """Number the variables of a function in the order in which they are assigned."""
    inside = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    given = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    stored = [node.id for node in inside if isinstance(node.ctx, ast.Store)]
    numbers = {name: f"local {n}" for n, name in enumerate(dict.fromkeys(stored))}
    for node in inside:
        if node.id not in given:
            node.id = numbers.get(node.id, node.id)
