"""Code is run: what behaves like the reference passes, everything else fails with a sentence and
does no harm."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import given

from specviz.training.corpus import Document
from specviz.training.judging import process
from specviz.training.judging.code import wrong_code
from specviz.training.judging.names import needed_names
from specviz.training.judging.process import Stopped, outcomes
from specviz.training.judging.programs import normalised, program_of
from specviz.training.judging.trials import trials_of
from tests.support.properties import share
from tests.support.training.judged import SEEDS, code, document

CALL = [{"call": "f", "args": [], "kwargs": {}}]
KINDS = (
    "pipeline",
    "string_function",
    "grouping",
    "class_definition",
    "recursion",
    "command_line",
    "tests",
    "standard_library",
    "checker",
)


def fenced(source: str) -> str:
    return f"```python\n{source}\n```"


@pytest.mark.slow
@share(0.1)
@given(SEEDS)
def test_the_reference_passes(seed: int) -> None:
    found = document("code_generation", seed)
    assert wrong_code(found, found.answer) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_code_is_run_but_that_of_the_standard_library(kind: str) -> None:
    source = program_of(code(kind).answer)
    assert source is not None
    assert wrong_code(code(kind), code(kind).answer) is None
    assert kind == "standard_library" or trials_of(ast.parse(source))


def mutants(source: str) -> list[str]:
    """The program with one operator, number, name of a method, type or error changed."""
    swaps = {
        " < ": " <= ", " <= ": " < ", " > ": " >= ", " != ": " == ", " == ": " != ", " + ": " - ",
        " - ": " + ", " * ": " + ", " // ": " / ", ".append(": ".extend(", ".lower(": ".upper(",
        ".strip(": ".lstrip(", "[::-1]": "[:]", " and ": " or ", "TypeError": "ValueError",
        "ValueError": "TypeError", "RuntimeError": "TypeError", ": int": ": float",
        ": str": ": int", ": bool": ": int", "={self.": ": {self.", "type=int": "type=str",
        "type=float": "type=str", "max(": "min(", "min(": "max(", "sorted(": "list(",
        "result += ": "result = ", "return ": "return not ", "return result": "return None",
        "len(": "sum(", "abs(": "(", "setdefault(key, [])": "setdefault(key, [0])",
    }  # fmt: skip
    found = []
    for old, new in swaps.items():
        if old in source:
            found.append(source.replace(old, new, 1))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "standard_library"])
# none of the changes leaves these the same
@pytest.mark.parametrize("seed", [22, 36])
def test_changed_programs_fail(kind: str, seed: int) -> None:
    found = code(kind, seed)
    source = program_of(found.answer)
    assert source is not None
    survived = [one for one in mutants(source) if wrong_code(found, fenced(one)) is None]
    if kind in ("string_function", "recursion", "checker", "pipeline"):  # annotations do nothing
        survived = [
            s for s in survived if normalised(ast.parse(s)) != normalised(ast.parse(source))
        ]
    assert not survived


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_another_name_fails(kind: str) -> None:
    found = code(kind)
    name = next(iter(needed_names(found)))
    why_not = wrong_code(found, found.answer.replace(name, f"{name}x"))
    assert why_not is not None and why_not.endswith(".")


@pytest.mark.slow
def test_another_way_to_the_same_result_passes() -> None:
    found = Document(
        "code_generation",
        "Write `get_owl` that returns a list of the squares of those above 5 in `data`.",
        fenced("def get_owl(data):\n    return [x ** 2 for x in data if x > 5]"),
        "get_owl squares",
    )
    loop = """
def get_owl(values: list) -> list:
    found = []
    for one in values:
        if not one <= 5:
            found += [one * one]
    return found"""
    assert wrong_code(found, fenced(loop.strip())) is None
    why_not = wrong_code(found, fenced(loop.strip().replace("<= 5", "< 5")))
    assert why_not == "get_owl([5]) gives [25]; the reference gives []."


@pytest.mark.slow
def test_where_nothing_is_told_apart_the_code_is_compared() -> None:
    """No number is above 48 and below 0, so any function that says no would pass."""
    never = "def is_owl(n: int) -> bool:\n    return n > 48 and n < 0"
    found = Document("code_generation", "Write `is_owl(n)`.", fenced(never), "is_owl")
    assert wrong_code(found, fenced(never.replace(": int", ""))) is None
    other = wrong_code(found, fenced(never.replace("n < 0", "n < 1")))
    assert other == "It is not the reference's code, which gives the same for every input."


@pytest.mark.slow
def test_a_test_must_pass_on_the_real_function_and_notice_a_wrong_one() -> None:
    found = code("tests")
    source = program_of(found.answer)
    assert source is not None
    name = source.split("(")[0].removeprefix("def ")
    lines = source.splitlines()
    assert "has no test" in str(wrong_code(found, fenced("def check(): pass")))
    nothing = wrong_code(found, fenced(f"def {name}():\n    assert True"))
    assert nothing is not None and nothing.endswith("passes; the reference fails.")
    fewer = wrong_code(found, fenced("\n".join(lines[:-1]) if len(lines) > 2 else "pass"))
    assert fewer is not None
    more = "\n".join([*lines, f"    assert {name.removeprefix('test_')}(1, 1) in (0, 1, 2)"])
    assert wrong_code(found, fenced(more)) is None


def test_source_of_the_standard_library_may_name_its_variables_differently() -> None:
    answer = fenced('def f(node):\n    """Say."""\n    for field in node:\n        yield field')
    found = Document("code_generation", "Write `f` as in `ast`.", answer, "ast.f")
    other = "def f(node):\n    for each in node:\n        yield each"
    assert wrong_code(found, fenced(other)) is None
    assert (
        wrong_code(found, fenced(other.replace("node", "tree"))) == "It is not the code of ast.f."
    )
    assert wrong_code(found, fenced(other.replace("yield each", "yield node")))


@pytest.mark.parametrize(
    ("text", "why_not"),
    [
        ("def f(): pass", "It is not Python: it is not one fenced program."),
        ("```python\ndef f(): pass", "It is not Python: it is not one fenced program."),
        (fenced("def f(:"), "It is not Python: invalid syntax."),
        (fenced("x = '\0'"), "It is not Python: source code string cannot contain null bytes."),
        (fenced("(" * 5000), "It is not Python: too many nested parentheses."),
        (fenced("-" * 100_000 + "1"), "It is not Python: "),
    ],
)
def test_what_is_no_program_fails(text: str, why_not: str) -> None:
    assert str(wrong_code(code("recursion"), text)).startswith(why_not)


def run(body: str) -> str:
    """The outcome of a function with this body; lines are indented here."""
    return outcomes("def f():\n" + "\n".join(f"    {line}" for line in body.splitlines()), CALL)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "while True:\n    try: pass\n    except BaseException: pass",
    ],
)
def test_a_program_that_does_not_end_is_ended(body: str) -> None:
    with pytest.raises(Stopped, match="does not end within 2 s of processor time"):
        run(body)


@pytest.mark.slow
def test_a_program_that_waits_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "DEADLINE_S", 1.0)
    with pytest.raises(Stopped, match="does not end within 1 s"):
        run("import time\ntime.sleep(600)")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
@pytest.mark.parametrize(
    "body", ["return len([0] * 10**9)", "a = []\nwhile True: a.append('x' * 10**6)"]
)
def test_a_program_that_allocates_is_stopped(body: str) -> None:
    assert run(body) == "raises MemoryError"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("print('hello')\nreturn 1", r"gives 1 and prints 'hello\n'"),
        ("import sys\nsys.exit(3)", "ends with exit code 3"),
        ("raise KeyboardInterrupt", "raises KeyboardInterrupt"),
        ("return f()", "raises RecursionError"),
        ("a = []\na.append(a)\nreturn a", "raises RecursionError"),
        ("return {2, 1}, {'b': 1, 'a': True}", "gives (set(1, 2), {'a': True, 'b': 1},)"),
        ("input()", "raises EOFError"),
        (
            "import os\nreturn [*os.environ.keys() - {'LC_CTYPE'}], os.listdir('.')",
            "gives ([], [],)",
        ),
        ("import sys\nsys.stdout.write('x' * 10**6)", "gives None and prints 'xx"),
    ],
)
def test_outcomes(body: str, outcome: str) -> None:
    found = run(body)
    assert found == outcome or (len(found) > 200 and found.startswith(outcome))
    assert len(found) < 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["os._exit(0)", "os.write(3, b'[]') or os.write(4, b'[') or os._exit(0)"]
)
def test_a_program_that_ends_its_process_fails(call: str) -> None:
    with pytest.raises(Stopped, match="ends its process"):
        run(f"import os\n{call}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "import os\nos.remove({file!r})",
        "import os\nos.rename({file!r}, 'mine')",
        "import os\nos.chmod({file!r}, 0)",
        "import os\nos.truncate({file!r}, 0)",
        "open({file!r}, 'w')",
        "open({file!r}, 'a').write('more')",
        "import os\nos.open({file!r}, os.O_RDWR)",
        "import pathlib\npathlib.Path({file!r}).write_text('other')",
        "import shutil\nshutil.rmtree({folder!r})",
        "import subprocess\nsubprocess.run(['rm', {file!r}])",
        "import os\nos.system('rm ' + {file!r})",
        "import os\nos.fork()",
        "import os\nos.kill(os.getppid(), 15)",
        "import socket\nsocket.socket()",
        "import ctypes\nctypes.CDLL(None).unlink({file!r}.encode())",
    ],
)
def test_files_processes_and_network_are_out_of_reach(body: str, tmp_path: Path) -> None:
    file = tmp_path / "precious.txt"
    file.write_text("kept")
    source = body.format(file=str(file), folder=str(tmp_path))
    assert run(source) == "raises PermissionError"
    swallowed = "\n".join(["try:", *(f"    {line}" for line in source.splitlines())])
    assert run(f"{swallowed}\nexcept PermissionError: pass\nreturn 1") == "gives 1"
    assert file.read_text() == "kept"
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.slow
def test_the_reference_is_not_changed_by_what_the_program_does_to_python() -> None:
    """Each runs in its own process."""
    found = code("pipeline")
    source = program_of(found.answer)
    spoilt = "import builtins\nbuiltins.len = builtins.sum = lambda *_: 0\n" + str(source)
    wrong_code(found, fenced(spoilt))
    assert wrong_code(found, found.answer) is None


def test_a_program_runs_where_an_editable_install_is_found_by_a_hook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without = [place for place in sys.path if not (Path(place or ".") / "specviz").is_dir()]
    monkeypatch.setattr(sys, "path", without)
    assert outcomes("def f():\n    return 4\n", CALL) == ["gives 4"]
