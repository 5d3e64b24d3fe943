"""Small whole programs: classes, command line tools, tests."""

from __future__ import annotations

import operator
from collections.abc import Callable
from random import Random

from specviz.training.texts.example import Example, join_words
from specviz.training.texts.lexicon import WORDS

LISTS = """
values numbers items data scores prices weights lengths ages readings samples counts
""".split()


def fence(lines: list[str]) -> str:
    return "```python\n" + "\n".join(lines) + "\n```"


FIELD_TYPES = {"int": "0", "float": "0.0", "str": '""', "bool": "False", "list": "[]"}


def class_definition(rng: Random) -> Example:
    name = rng.choice(WORDS).title()
    fields = rng.sample([*LISTS, *WORDS], rng.randrange(2, 5))
    kinds = [rng.choice(["int", "float", "str", "bool"]) for _ in fields]
    listed = join_words([f"{f} ({k})" for f, k in zip(fields, kinds, strict=True)])
    if rng.random() < 0.5:
        defaults = rng.random() < 0.5
        tails = [f" = {FIELD_TYPES[k]}" if defaults else "" for k in kinds]
        body = [f"    {f}: {k}{t}" for f, k, t in zip(fields, kinds, tails, strict=True)]
        extra = " and defaults" if defaults else ""
        prompt = f"Write a dataclass `{name}` with the fields {listed}{extra}."
        lines = ["from dataclasses import dataclass", "", "", "@dataclass", f"class {name}:", *body]
    else:
        prompt = f"Write a Python class `{name}` with {listed} and a `__repr__`."
        args = ", ".join(f"{f}: {k}" for f, k in zip(fields, kinds, strict=True))
        shown = ", ".join(f"{f}={{self.{f}!r}}" for f in fields)
        lines = [
            f"class {name}:",
            f"    def __init__(self, {args}):",
            *(f"        self.{f} = {f}" for f in fields),
            "",
            "    def __repr__(self):",
            f'        return f"{name}({shown})"',
        ]
    return Example(prompt, fence(lines), f"class {name} {listed}")


def command_line(rng: Random) -> Example:
    options = rng.sample(WORDS, rng.randrange(1, 4))
    kinds = [rng.choice(["int", "float", "str"]) for _ in options]
    listed = join_words([f"--{o} ({k})" for o, k in zip(options, kinds, strict=True)])
    prompt = rng.choice(
        [
            f"Write a Python script with argparse that takes {listed} and prints them.",
            f"Show me an argparse command line with {listed}. Print every option.",
        ]
    )
    lines = [
        "import argparse",
        "",
        "",
        "def main() -> None:",
        "    parser = argparse.ArgumentParser()",
        *(
            f'    parser.add_argument("--{o}", type={k}, required=True)'
            for o, k in zip(options, kinds, strict=True)
        ),
        "    args = parser.parse_args()",
        *(f'    print("{o}:", args.{o})' for o in options),
        "",
        "",
        'if __name__ == "__main__":',
        "    main()",
    ]
    return Example(prompt, fence(lines), f"argparse {listed}")


OPERATIONS: list[tuple[str, str, Callable[[int, int], int]]] = [
    ("add", "adds", operator.add),
    ("subtract", "subtracts", operator.sub),
    ("multiply", "multiplies", operator.mul),
    ("largest", "takes the larger of", max),
    ("smallest", "takes the smaller of", min),
]


def tests(rng: Random) -> Example:
    verb, words, operation = rng.choice(OPERATIONS)
    name = f"{verb}_{rng.choice(WORDS)}"
    pairs = [(rng.randrange(0, 60), rng.randrange(0, 60)) for _ in range(rng.randrange(2, 5))]
    cases = join_words([f"({a}, {b})" for a, b in pairs])
    results = [operation(a, b) for a, b in pairs]
    prompt = f"Write a pytest test for `{name}(a, b)`, which {words} two numbers. Cases: {cases}."
    lines = [
        f"def test_{name}():",
        *(f"    assert {name}({a}, {b}) == {r}" for (a, b), r in zip(pairs, results, strict=True)),
    ]
    return Example(prompt, fence(lines), f"{name} {cases}")
