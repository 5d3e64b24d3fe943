"""Write down which options an inference server has, from its unpacked package, importing nothing.

    python scripts/record_options.py vllm PACKAGE VERSION > tests/unit/deploy/options/vllm-0.33.json

The frameworks are vllm, sglang and llama.cpp (PACKAGE is that of xllamacpp). PACKAGE is the folder
of the package inside an unpacked wheel: `pip download --no-deps vllm==0.33.0`, then `unzip`. The
servers themselves are no dependencies of the project; the launch commands are tested against these
lists (`tests/unit/deploy/`).
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> None:
    if len(arguments) != 3 or arguments[0] not in RECORDERS:
        sys.exit(__doc__)
    framework, folder, version = arguments
    found = {
        "framework": framework,
        "version": version,
        "source": f"{framework} {version}, unpacked wheel, scripts/record_options.py",
        **RECORDERS[framework](Path(folder)),
    }
    print(json.dumps(found, indent=1))


def vllm_options(package: Path) -> dict[str, list[str]]:
    """Flags of `vllm serve`, fields of the engine's arguments and of the speculative config."""
    cli = next(package.glob("entrypoints/*/cli_args.py"))
    arguments = parsed(package / "engine/arg_utils.py")
    speculative = parsed(package / "config/speculative.py")
    frontend = fields_of(parsed(cli), "FrontendArgs", "BaseFrontendArgs")
    flags = {*added(arguments), *added(parsed(cli)), *map(flag, frontend)}
    return {
        "flags": sorted(flags),
        "methods": sorted(literal(speculative, "SpeculativeMethod")),
        "speculative_config": sorted(fields_of(speculative, "SpeculativeConfig")),
        "engine_arguments": sorted(fields_of(arguments, "EngineArgs", "AsyncEngineArgs")),
    }


def sglang_options(package: Path) -> dict[str, list[str]]:
    """Flags of `sglang.launch_server`, from the namespaces that its parser is made of."""
    flags: set[str] = set()
    for path in sorted((package / "srt/arg_groups/fields").glob("*.py")):
        for namespace in parsed(path).body:
            for node in namespace.body if isinstance(namespace, ast.ClassDef) else []:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    flags |= set(sglang_flags(node.target.id, node.annotation))
    algorithms = members(parsed(package / "srt/speculative/spec_info.py"), "SpeculativeAlgorithm")
    # an alias that the hook resolves before the name is looked up
    return {"flags": sorted(flags), "algorithms": sorted({*algorithms, "NEXTN"} - {"NONE"})}


REMOVED = frozenset(
    "--draft --draft-n --draft-max --draft-min --draft-n-min --spec-ngram-size-n "
    "--spec-ngram-size-m --spec-ngram-min-hits".split()
)
"""llama.cpp still knows them, to say that they are gone: tools/server/README.md at 00dc805."""


def llama_cpp_options(package: Path) -> dict[str, list[str]]:
    """The option names and speculation types among the strings of the compiled library."""
    library = next(package.glob("*.so")).read_bytes()
    flags = {found.decode() for found in re.findall(rb"(?<=\0)--[a-z][a-z0-9-]+(?=\0)", library)}
    types = re.findall(rb"(?<=\0)(?:draft|ngram)-[a-z0-9]+(?:-[a-z0-9]+)?(?=\0)", library)
    return {
        "flags": sorted(flags - REMOVED),
        "removed": sorted(REMOVED),
        "types": sorted({found.decode() for found in types}),
    }


def sglang_flags(name: str, annotation: ast.expr) -> Iterator[str]:
    """The field's own flag and its aliases; nothing for a field that is not on the command line."""
    calls = [
        node
        for node in ast.walk(annotation)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Arg"
    ]
    given: dict[str, Any] = {}
    for call in calls:
        for keyword in call.keywords:
            if keyword.arg in ("no_cli", "cli_name", "aliases"):
                given[keyword.arg] = ast.literal_eval(keyword.value)
    if name.startswith("_") or given.get("no_cli"):
        return
    yield given.get("cli_name") or flag(name)
    yield from given.get("aliases", ())


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def added(tree: ast.Module) -> Iterator[str]:
    """Long options of every `….add_argument("--…")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr != "add_argument":
                continue
            for word in node.args:
                if isinstance(word, ast.Constant) and str(word.value).startswith("--"):
                    yield str(word.value)


def classes(tree: ast.Module, names: tuple[str, ...]) -> Iterator[ast.ClassDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in names:
            yield node


def fields_of(tree: ast.Module, *names: str) -> Iterator[str]:
    """Annotated names in the bodies of classes."""
    for one in classes(tree, names):
        for node in one.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id


def members(tree: ast.Module, name: str) -> Iterator[str]:
    """The members of an enumeration."""
    for one in classes(tree, (name,)):
        for node in one.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield node.targets[0].id


def literal(tree: ast.Module, name: str) -> Iterator[str]:
    """The values of `NAME = Literal[…]`, with those of the literals that it names."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant):
                    yield part.value
                elif isinstance(part, ast.Name) and part.id != "Literal":
                    yield from literal(tree, part.id)


RECORDERS = {"vllm": vllm_options, "sglang": sglang_options, "llama.cpp": llama_cpp_options}

if __name__ == "__main__":
    main(sys.argv[1:])
