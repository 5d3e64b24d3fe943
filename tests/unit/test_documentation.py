"""README.md, CONTRIBUTING.md and docs/: links, commands, targets and methods exist."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from benchmarks.tables.documents import documents
from specviz.cli import app
from specviz.config import EngineKind
from specviz.methods import METHODS, VLLM, Method
from specviz.paths import PROJECT_ROOT
from specviz.servers.kinds import KINDS
from tests.unit.test_architecture import LEVELS

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]+))?\)")
CODE = re.compile(r"```.*?```|`[^`\n]+`|^ {4}[^\n]+$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?<![\w./=-])(?:\.venv/bin/)?specviz ([a-z]+(?![\w:]).*)")
TARGET = re.compile(r"\bmake ([a-z][a-z-]+)\b")
PATH = re.compile(r"`((?:specviz|tests|data|scripts|benchmarks|pages|docs)/[\w./-]+)`")

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def code_in(path: Path) -> list[str]:
    """The lines of code in a document, inline code included, without comments."""
    parts = CODE.findall(path.read_text(encoding="utf-8"))
    lines = [line for part in parts for line in part.strip("`").splitlines()]
    return [line.partition("#")[0] for line in lines]


def anchors(text: str) -> set[str]:
    """GitHub's anchors of the headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}


def problems_of_command(line: str) -> list[str]:
    """Unknown subcommand or options of `specviz …`; what follows ` -- ` belongs to vLLM."""
    name, *words = shlex.split(line.split(" -- ")[0], posix=False)
    if name not in COMMANDS:
        return [f"no command {name}"]
    commands = [COMMANDS[name]]
    if (group := getattr(COMMANDS[name], "commands", None)) and words:
        one_of_several = [group[word] for word in words[0].split("|") if word in group]
        commands = one_of_several or commands
    known = {option for one in commands for parameter in one.params for option in parameter.opts}
    given = {word.split("=")[0] for word in words if word.startswith("-") and word != "-"}
    return [f"{name} has no {option}" for option in sorted(given - known)]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path):
    wrong = []
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        file = (path.parent / target).resolve() if target else path
        there = file.exists() and not (
            anchor and anchor not in anchors(file.read_text(encoding="utf-8"))
        )
        wrong += [] if there else [f"{target}#{anchor}"]
    assert not wrong


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_commands_are_those_of_the_command_line(path: Path):
    commands = [command for line in code_in(path) for command in COMMAND.findall(line)]
    assert not [problem for one in commands for problem in problems_of_command(one)]


def test_an_outdated_command_is_noticed():
    assert problems_of_command("benchmark plan.toml") == ["no command benchmark"]
    assert problems_of_command("run --prompt Hi --speculative 3") == ["run has no --speculative"]
    assert not problems_of_command("serve --k 3 -- --tensor-parallel-size 2")
    assert problems_of_command("servers list --label x") == ["servers has no --label"]
    assert not problems_of_command("servers add|list --label x --json")


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_make_targets_exist(path: Path):
    makefile = (PROJECT_ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert not {name for line in code_in(path) for name in TARGET.findall(line)} - targets


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path):
    named = set(PATH.findall(path.read_text(encoding="utf-8")))
    named = {name for name in named if not re.search(r"/[A-Z]+[./]|/[A-Z]+$", name)}  # METHOD, ROOM
    assert not [name for name in sorted(named) if not (PROJECT_ROOT / name).exists()]


def test_the_levels_are_those_of_the_architecture_test():
    text = (PROJECT_ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (`[^|]+`) \|", text, re.MULTILINE)
    levels = [set(re.findall(r"`(\w+)`", rooms)) for _, rooms in rows]
    assert [int(number) for number, _ in rows] == list(range(len(LEVELS)))
    assert levels == [level - {"__main__"} for level in LEVELS]


def test_the_readme_has_every_method():
    text = (PROJECT_ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Methods")[2].partition("\n## ")[0]
    rows = re.findall(
        r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \|", table, re.MULTILINE
    )
    assert [name for name, *_ in rows] == [m for m in Method if m is not Method.BASELINE]
    for name, shapes, vllm, papers in rows:
        record = METHODS[Method(name)]
        assert shapes == ", ".join(record.shapes)
        assert (vllm == "no") == (VLLM not in record.servers)
        assert re.findall(r"\]\((.+?)\)", papers) == re.findall(r"\]\((.+?)\)", record.source)


@pytest.mark.parametrize("name", ["servers.md", "architecture.md"])
def test_every_kind_of_server_has_its_row(name: str):
    rows = (PROJECT_ROOT / "docs" / name).read_text(encoding="utf-8")
    assert [kind.name for kind in KINDS if not re.search(rf"^\| {kind.name}\b", rows, re.M)] == []


def test_plans_are_documented_with_every_kind_of_server():
    text = (PROJECT_ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `engine` \| (.+) \|$", text, re.MULTILINE)
    assert set(re.findall(r"`([a-z.-]+)`", row)) == set(EngineKind)
