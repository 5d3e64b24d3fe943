"""Python functions: composed from a small program grammar, or out of the standard library.

The grammar composes a source of values, a condition, a transformation and a way to reduce, and
writes the same meaning in several styles; the prompt names the style. Besides those there are
string functions, recursive functions, classes, command line tools and tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from specviz.training.texts.example import Example, article, join_words
from specviz.training.texts.lexicon import WORDS
from specviz.training.texts.programs import LISTS, class_definition, command_line, fence, tests
from specviz.training.texts.stdlib_functions import stdlib_function


@dataclass(frozen=True)
class Phrase:
    """An expression over `{x}` and the English for it."""

    code: str
    words: str


LOOP_NAMES = "value number item x n entry element".split()
FUNCTION_VERBS = "compute collect get find make select calculate gather".split()

REDUCERS: list[tuple[str, str, str]] = [
    # (name, words, builtin expression over {it})
    ("list", "a list of", "[{it}]"),
    ("sum", "the sum of", "sum({it})"),
    ("max", "the largest of", "max({it})"),
    ("min", "the smallest of", "min({it})"),
    ("count", "the number of", "len([{it}])"),
    ("set", "the set of", "{{{it}}}"),
    ("sorted", "a sorted list of", "sorted({it})"),
]


def example(rng: Random) -> Example:
    """One request for code and the code."""
    maker: Callable[[Random], Example] = rng.choices(MAKERS, WEIGHTS)[0]
    return maker(rng)


def _condition(rng: Random) -> Phrase:
    n, m = rng.randrange(2, 100), rng.randrange(2, 13)
    return rng.choice(
        [
            Phrase("{x} % 2 == 0", "the even ones"),
            Phrase("{x} % 2 == 1", "the odd ones"),
            Phrase("{x} > 0", "the positive ones"),
            Phrase("{x} < 0", "the negative ones"),
            Phrase(f"{{x}} > {n}", f"those above {n}"),
            Phrase(f"{{x}} < {n}", f"those below {n}"),
            Phrase(f"{{x}} % {m} == 0", f"the multiples of {m}"),
            Phrase(f"{n} <= {{x}} <= {n + m}", f"those from {n} to {n + m}"),
            Phrase(f"{{x}} != {n}", f"those other than {n}"),
        ]
    )


def _transformation(rng: Random) -> Phrase:
    n = rng.randrange(2, 20)
    return rng.choice(
        [
            Phrase("{x}", "the values"),
            Phrase("{x} ** 2", "the squares"),
            Phrase("{x} ** 3", "the cubes"),
            Phrase("abs({x})", "the absolute values"),
            Phrase("-{x}", "the negatives"),
            Phrase(f"{{x}} + {n}", f"the values plus {n}"),
            Phrase(f"{{x}} - {n}", f"the values minus {n}"),
            Phrase(f"{{x}} * {n}", f"the values times {n}"),
            Phrase(f"{{x}} // {n}", f"the values divided by {n}"),
            Phrase("str({x})", "the values as strings"),
        ]
    )


def _pipeline(rng: Random) -> Example:
    """Filter, transform, reduce; as a comprehension or as a loop."""
    values, x = rng.choice(LISTS), rng.choice(LOOP_NAMES)
    condition, change = _condition(rng), _transformation(rng)
    reducer = rng.choice(REDUCERS)
    if change.code.startswith("str") and reducer[0] in ("sum", "max", "min"):
        change = Phrase("{x} * 2", "the doubles")
    name = f"{rng.choice(FUNCTION_VERBS)}_{rng.choice(WORDS)}"
    loop = rng.random() < 0.5 and reducer[0] in ("list", "sum", "count", "set")
    task = f"{reducer[1]} {change.words} of {condition.words} in `{values}`"
    body = (_loop if loop else _comprehension)(values, x, condition, change, reducer)
    style = "with a loop" if loop else "with a comprehension"
    typed = rng.random() < 0.5
    documented = rng.random() < 0.5
    head = f"def {name}({values}: list[int]):" if typed else f"def {name}({values}):"
    doc = [f'    """Return {task.replace("`", "")}."""'] if documented else []
    extras = [style, *(["type hints"] if typed else []), *(["a docstring"] if documented else [])]
    prompt = rng.choice(
        [
            f"Write a Python function `{name}` that returns {task}, {join_words(extras)}.",
            f"I need a function `{name}({values})` in Python: {task}. "
            f"Write it {join_words(extras)}.",
            f"Implement `{name}`, {join_words(extras)}. It returns {task}.",
        ]
    )
    return Example(prompt, fence([head, *doc, *body]), f"{name} {task} {style}")


def _comprehension(
    values: str, x: str, condition: Phrase, change: Phrase, reducer: tuple[str, str, str]
) -> list[str]:
    inner = f"{change.code.format(x=x)} for {x} in {values} if {condition.code.format(x=x)}"
    return [f"    return {reducer[2].format(it=inner)}"]


def _loop(
    values: str, x: str, condition: Phrase, change: Phrase, reducer: tuple[str, str, str]
) -> list[str]:
    start = {"list": "[]", "sum": "0", "count": "0", "set": "set()"}[reducer[0]]
    value = change.code.format(x=x)
    update = {
        "list": f"result.append({value})",
        "sum": f"result += {value}",
        "count": "result += 1",
        "set": f"result.add({value})",
    }[reducer[0]]
    return [
        f"    result = {start}",
        f"    for {x} in {values}:",
        f"        if {condition.code.format(x=x)}:",
        f"            {update}",
        "    return result",
    ]


def _string_function(rng: Random) -> Example:
    name = f"{rng.choice(FUNCTION_VERBS)}_{rng.choice(WORDS)}"
    arg = rng.choice(["text", "line", "word", "message", "title", "sentence"])
    letter, n, word = rng.choice("aeioustrnl"), rng.randrange(2, 12), rng.choice(WORDS)
    steps = rng.sample(
        [
            Phrase(f"{arg} = {arg}.lower()", "makes it lower case"),
            Phrase(f"{arg} = {arg}.strip()", "removes the spaces around it"),
            Phrase(f'{arg} = {arg}.replace("{letter}", "")', f'drops every "{letter}"'),
            Phrase(f"{arg} = {arg}[:{n}]", f"keeps the first {n} characters"),
            Phrase(f"{arg} = {arg}[::-1]", "reverses it"),
            Phrase(f'{arg} = "{word} " + {arg}', f'puts "{word} " in front'),
            Phrase(f'{arg} = {arg} + "{word}"', f'adds "{word}" at the end'),
            Phrase(f"{arg} = {arg}.title()", "capitalizes the words"),
            Phrase(f"{arg} = {arg} * {n}", f"repeats it {n} times"),
            Phrase(f'{arg} = {arg}.removeprefix("{word}")', f'cuts off the prefix "{word}"'),
        ],
        rng.randrange(2, 5),
    )
    task = join_words([step.words for step in steps], "and then")
    prompt = rng.choice(
        [
            f"Write a Python function `{name}({arg})` that takes a string, {task}, and returns it.",
            f"Write `{name}`, which gets a string `{arg}`, {task}.",
        ]
    )
    lines = [f"def {name}({arg}: str) -> str:", *(f"    {step.code}" for step in steps)]
    return Example(prompt, fence([*lines, f"    return {arg}"]), f"{name} {task}")


def _grouping(rng: Random) -> Example:
    name = f"{rng.choice(['group', 'count', 'index'])}_{rng.choice(WORDS)}"
    many, one = rng.choice(
        [("words", "word"), ("names", "name"), ("lines", "line"), ("files", "file")]
    )
    key = rng.choice(
        [
            Phrase(f"len({one})", "length"),
            Phrase(f"{one}[0]", "first character"),
            Phrase(f"{one}[-1]", "last character"),
            Phrase(f"{one}.lower()", "lower-case form"),
            Phrase(f"{one}.isupper()", "whether it is upper case"),
            Phrase(f'{one}.count("{rng.choice("aeiou")}")', "count of a vowel"),
        ]
    )
    if name.startswith("count"):
        task, initial = f"counts the {many} for every {key.words}", "0"
        update = f"result[key] = result.get(key, {initial}) + 1"
    else:
        task = f"groups the {many} by {key.words}"
        update = f"result.setdefault(key, []).append({one})"
    prompt = rng.choice(
        [
            f"Write a Python function `{name}` that {task} (use `{key.code}`) into a dictionary.",
            f"Please write `{name}({many})`: it {task}. The key is `{key.code}`.",
        ]
    )
    lines = [
        f"def {name}({many}):",
        "    result = {}",
        f"    for {one} in {many}:",
        f"        key = {key.code}",
        f"        {update}",
        "    return result",
    ]
    return Example(prompt, fence(lines), f"{name} {task} {key.code}")


def _recursion(rng: Random) -> Example:
    name = f"{rng.choice(WORDS)}_{rng.choice(WORDS)}"
    a, b = rng.randrange(0, 9), rng.randrange(1, 9)
    form = rng.choice(
        [
            Phrase("{name}(n - 1) + {b}", "f(n) = f(n - 1) + {b}"),
            Phrase("{b} * {name}(n - 1)", "f(n) = {b} * f(n - 1)"),
            Phrase("n * {name}(n - 1) + {b}", "f(n) = n * f(n - 1) + {b}"),
            Phrase("{name}(n // 2) + {b}", "f(n) = f(n // 2) + {b}"),
            Phrase("{name}(n - 1) - {b} * n", "f(n) = f(n - 1) - {b} * n"),
        ]
    )
    rule = form.words.format(b=b)
    prompt = f"Write a recursive Python function `{name}(n)` with f(0) = {a} and {rule}."
    lines = [
        f"def {name}(n: int) -> int:",
        "    if n <= 0:",
        f"        return {a}",
        f"    return {form.code.format(name=name, b=b)}",
    ]
    return Example(prompt, fence(lines), f"{name} {a} {rule}")


def _standard_library(rng: Random) -> Example:
    function = stdlib_function(rng)
    prompt = rng.choice(
        [
            f"Write `{function.name}` as in Python's module `{function.module}`: "
            f"{function.summary}",
            f"How does Python's `{function.module}` implement `{function.name}`?",
            f"Show me the source of `{function.module}.{function.name}`. {function.summary}",
        ]
    )
    return Example(prompt, fence([function.source]), f"{function.module}.{function.name}")


def _checker(rng: Random) -> Example:
    name, x = f"is_{rng.choice(WORDS)}", rng.choice(LOOP_NAMES)
    conditions = [_condition(rng) for _ in range(rng.randrange(2, 4))]
    error = rng.choice(["ValueError", "TypeError", "RuntimeError"])
    tests = [c.code.format(x=x) for c in conditions]
    listed = " and ".join(f"`{t}`" for t in tests)
    if rng.random() < 0.5:
        prompt = f"Write a Python function `{name}({x})` that is true when {listed}."
        lines = [f"def {name}({x}: int) -> bool:", f"    return {' and '.join(tests)}"]
    else:
        prompt = f"Write `{name}({x})`, which raises {article(error)} unless {listed}."
        lines = [f"def {name}({x}: int) -> None:"]
        for test in tests:
            lines += [f"    if not ({test}):", f'        raise {error}(f"bad value: {{{x}}}")']
    return Example(prompt, fence(lines), f"{name} {listed} {len(lines)}")


MAKERS: list[Callable[[Random], Example]] = [
    _pipeline,
    _string_function,
    _grouping,
    class_definition,
    _recursion,
    command_line,
    tests,
    _standard_library,
    _checker,
]
WEIGHTS = [30, 14, 8, 12, 7, 6, 7, 12, 9]
