"""What is tried on a program and on its reference: calls, command lines, tests.

A trial is a JSON object that `child.py` carries out. Which trials there are follows from the
reference: its functions and their parameters, its numbers and strings, so that inputs lie on both
sides of every limit that the prompt names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from random import Random
from typing import Any

from specviz.training.texts.programs import OPERATIONS

Trial = dict[str, Any]
"""{"call": name, "args": […], "kwargs": {…}}, {"signature": name}, {"argv": […]} or
{"tests_of": name, "is": [module, name], "wrong": [a, b] | null}; with "loose": true the trial
counts only if the reference takes such an input."""

_WORDS = "Anna otter Level ivory NOON street banana tree OWL river e".split()


def trials_of(tree: ast.Module) -> list[Trial]:
    """The trials for a reference program; none if only its text can be compared."""
    match tree.body:
        case [ast.FunctionDef(name=name) as test] if name.startswith("test_"):
            return _of_tests(test)
        case [ast.FunctionDef() as function]:
            return _of_function(function)
        case [*_, ast.ClassDef() as described]:
            return _of_class(described)
        case [*_, ast.If(test=ast.Compare(left=ast.Name(id="__name__")))]:
            return _of_script(tree)
    return []


def _of_function(function: ast.FunctionDef) -> list[Trial]:
    """Calls of a function of one parameter, whose annotation says what it takes.

    Without one it is offered lists of numbers and of strings.
    """
    if len(function.args.args) != 1:
        return []
    annotation = function.args.args[0].annotation
    named = ast.unparse(annotation) if annotation else ""
    makers = [INPUTS[named]] if named in INPUTS else [INPUTS["list[int]"], INPUTS["list[str]"]]
    rng = Random(function.name)
    return [
        {"call": function.name, "args": [value], "kwargs": {}, "loose": named not in INPUTS}
        for make in makers
        for value in make(rng, _constants(function))
    ]


def _constants(node: ast.AST) -> list[Any]:
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]


def _numbers(rng: Random, constants: list[Any]) -> list[int]:
    """Small numbers, what lies next to and between the program's own, and some more."""
    own = [value for value in constants if type(value) is int]
    near = [sign * value + step for value in own for sign in (1, -1) for step in (-1, 0, 1)]
    far = [rng.randrange(-200, 200) for _ in range(30)]
    return list(dict.fromkeys([*range(-3, 14), *near, *far]))


def _lists_of_numbers(rng: Random, constants: list[Any]) -> list[list[int]]:
    """None, one by one, and several in any order, some twice."""
    pool = _numbers(rng, constants)
    mixed = [rng.choices(pool, k=rng.randrange(2, 9)) for _ in range(20)]
    return [[], *([number] for number in pool), *mixed]


def _depths(rng: Random, constants: list[Any]) -> list[int]:
    """Arguments of a function that may call itself for every number below."""
    return [number for number in _numbers(rng, constants) if number < 120]


def _strings(rng: Random, constants: list[Any]) -> list[str]:
    """Words, spaces around them, and the program's own strings in several places."""
    own = [value for value in constants if type(value) is str and value]
    around = [
        text
        for one in own
        for text in (one, one.upper(), f"{one}{one}", f"{one} and", f" {one}", f"tea {one}")
    ]
    long = " ".join(rng.sample(_WORDS, len(_WORDS)))
    return list(dict.fromkeys(["", "  two  words ", "a", "x y Z", *_WORDS, long, *around]))


def _lists_of_strings(rng: Random, constants: list[Any]) -> list[list[str]]:
    pool = [text for text in _strings(rng, constants) if text]
    return [[], *(rng.choices(pool, k=rng.randrange(1, 9)) for _ in range(20))]


INPUTS: dict[str, Callable[[Random, list[Any]], list[Any]]] = {
    "int": _depths,
    "str": _strings,
    "list[int]": _lists_of_numbers,
    "list[str]": _lists_of_strings,
}
"""By annotation."""

_VALUES: dict[str, tuple[Any, Any]] = {
    "int": (7, -12),
    "float": (2.5, 0.0),
    "str": ("ab", 'x "y"'),
    "bool": (True, False),
}
"""Two values of every kind of field."""


def _of_class(described: ast.ClassDef) -> list[Trial]:
    """Its signature, and objects made by name, by position and with nothing."""
    name, fields = described.name, _fields(described)
    trials: list[Trial] = [{"signature": name}, {"call": name, "args": [], "kwargs": {}}]
    for which in (0, 1):
        values = {field: _VALUES[kind][which] for field, kind in fields.items()}
        trials.append({"call": name, "args": [], "kwargs": values})
        trials.append({"call": name, "args": [*values.values()], "kwargs": {}})
    return trials


def _fields(described: ast.ClassDef) -> dict[str, str]:
    """The fields with their types, from the class or from `__init__`."""
    found: dict[str, str] = {}
    for node in described.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind):
                found[name] = ast.unparse(kind)
            case ast.FunctionDef(name="__init__", args=ast.arguments(args=[_, *parameters])):
                found |= {
                    one.arg: ast.unparse(one.annotation) for one in parameters if one.annotation
                }
    return found


def _of_script(tree: ast.Module) -> list[Trial]:
    """Command lines with all options, twice, and one for each that takes a number and gets none."""
    options: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=option)]
            ):
                kinds = (word.value for word in node.keywords if word.arg == "type")
                options[str(option)] = ast.unparse(next(kinds))
    lines = [{option: str(_VALUES[kind][n]) for option, kind in options.items()} for n in (0, 1)]
    lines += [lines[0] | {option: "many"} for option, kind in options.items() if kind != "str"]
    return [{"argv": [f"{option}={value}" for option, value in line.items()]} for line in lines]


def _of_tests(test: ast.FunctionDef) -> list[Trial]:
    """The tests on the real function, which must pass, and on functions that are wrong in one case
    each, which must not."""
    name = test.name.removeprefix("test_")
    known = {verb: function for verb, _, function in OPERATIONS}
    real = known.get(name.partition("_")[0])
    if real is None:
        return []
    place = [real.__module__, real.__name__]
    cases = [
        [ast.literal_eval(value) for value in node.args]
        for node in ast.walk(test)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name
    ]
    return [{"tests_of": name, "is": place, "wrong": case} for case in [None, *cases]]
