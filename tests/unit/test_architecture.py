"""The arrows between the rooms, what may be imported when, and how long files and shelves may be.

A module may import modules of lower levels and of its own room. On one level the rooms do not
know each other, except the words of level 0, which everything uses.
"""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from specviz.paths import PROJECT_ROOT

LEVELS: tuple[set[str], ...] = (
    {
        *("config", "errors", "machine", "memory", "methods", "palette", "paths"),
        *("policy", "prompts", "reference", "sample", "terminal", "trace", "wire"),
    },
    {"analysis", "checkpoints", "deploy"},
    {"models"},
    {"engines", "store"},
    {"servers"},
    {"opening"},
    {"figures", "fleet", "live"},
    {"bench", "strip"},
    {"sweep"},
    {"known_facts", "remote", "report", "runtime"},
    {"doctor", "training", "verify", "views", "web"},
    {"app", "cli", "commands", "pages", "__main__"},
)
WORDS = LEVELS[0]
WIRING = LEVELS[-1]  # the two front ends; cli and __main__ call commands
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}

SLOW = {"torch", "transformers", "vllm"}
SLOW_ALLOWED = ("specviz/training/", "specviz/engines/embedded/")
STREAMLIT_ALLOWED = ("app.py", "pages/", "specviz/views/")
LONGEST_FILE = 500
FULLEST_SHELF = 20
SHELVES = ("specviz", "pages", "tests", "benchmarks", "scripts")
CODE = (".py", ".js", ".css", ".html", ".cpp", ".sh")
"""Not `.sql`: migrations are found by their number, and are never moved."""

KINDLESS = ("specviz/servers/client/", "specviz/servers/timing/", "specviz/servers/launch/")
"""These rooms serve every kind of server through `Dialect` and `Launcher`."""

KIND_ROOMS = sorted(path.parent.name for path in PROJECT_ROOT.glob("specviz/servers/*/dialect.py"))
OTHER_NAMES = ("trtllm", "tensorrt", "llama.cpp")
IMPORT_A_CONVERTER = {
    "llama_cpp": ("specviz/runtime.py", "specviz/commands/gguf.py", "specviz/commands/models.py")
}
"""Model folders become GGUF, the one format that llama.cpp reads, before it is started."""

PROGRAM = sorted(
    [
        *PROJECT_ROOT.glob("app.py"),
        *PROJECT_ROOT.glob("pages/**/*.py"),
        *PROJECT_ROOT.glob("specviz/**/*.py"),
    ]
)
ALL_FILES = sorted(
    [*PROGRAM, *PROJECT_ROOT.glob("tests/**/*.py"), *PROJECT_ROOT.glob("benchmarks/**/*.py")]
)


def name_of(path: Path) -> str:
    return path.relative_to(PROJECT_ROOT).as_posix()


def room_of(path: Path) -> str:
    """The room a file is in: `specviz/store/owner.py` is in store, `pages/live.py` in pages."""
    parts = path.relative_to(PROJECT_ROOT).with_suffix("").parts
    return parts[1] if parts[0] == "specviz" else parts[0]


@cache
def imported(path: Path, *, at_import_time: bool = False) -> tuple[str, ...]:
    """Dotted names that the file imports, `from a import b` as `a.b`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: list[str] = []
    for node in run_on_import(tree) if at_import_time else ast.walk(tree):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(names)


def run_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below `node` that run when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from run_on_import(child)


def rooms_imported(path: Path) -> set[str]:
    """The rooms that the file names; `import specviz` itself names none."""
    names = (name.split(".") for name in imported(path))
    rooms = {parts[1] for parts in names if parts[0] == "specviz" and len(parts) > 1}
    return rooms - {"__version__"}


def packages(path: Path, *, at_import_time: bool = False) -> set[str]:
    return {name.split(".")[0] for name in imported(path, at_import_time=at_import_time)}


def may_import(importer: str, other: str) -> bool:
    if importer == other or (importer in WORDS and other in WORDS):
        return True
    if importer in WIRING and other in WIRING:
        return other in {"cli", "commands"}
    return LEVEL_OF[other] < LEVEL_OF[importer]


def test_every_room_has_its_level():
    rooms = {room_of(path) for path in PROGRAM} - {"__init__"}
    assert rooms <= LEVEL_OF.keys(), "give the new room a level in LEVELS"


def test_arrows_run_one_way():
    wrong = [
        f"{name_of(path)} imports {other}"
        for path in PROGRAM
        for other in rooms_imported(path)
        if not may_import(room_of(path), other)
    ]
    assert not wrong


def test_only_the_command_line_knows_training():
    others = [path for path in PROGRAM if room_of(path) not in WIRING | {"training"}]
    assert not [name_of(path) for path in others if "training" in rooms_imported(path)]


def test_streamlit_stays_in_app_pages_and_views():
    elsewhere = [path for path in PROGRAM if not name_of(path).startswith(STREAMLIT_ALLOWED)]
    assert not [name_of(path) for path in elsewhere if "streamlit" in packages(path)]


def test_one_http_library_in_the_program():
    """httpx2, and httptools where answers are timed."""
    others = ("httpx", "requests", "aiohttp", "urllib.request", "urllib3", "http.client")
    for path in PROGRAM:
        names = {f"{name}." for name in imported(path)}
        assert not [name for name in names if name.startswith(tuple(f"{o}." for o in others))], path


def test_torch_and_vllm_are_not_imported_at_import_time():
    elsewhere = [path for path in PROGRAM if not name_of(path).startswith(SLOW_ALLOWED)]
    assert not [name_of(path) for path in elsewhere if packages(path, at_import_time=True) & SLOW]


def test_the_command_line_starts_without_torch_vllm_and_streamlit():
    program = "import sys, specviz.cli; print(*sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert not (SLOW | {"streamlit"}) & set(answer.stdout.split())


@pytest.mark.parametrize("kind", KIND_ROOMS)
def test_only_the_list_of_kinds_imports_the_room_of_a_kind(kind: str):
    room = f"specviz.servers.{kind}."
    importers = {
        name_of(path)
        for path in PROGRAM
        if any(name.startswith(room) for name in imported(path))
        and not name_of(path).startswith(f"specviz/servers/{kind}/")
    }
    allowed = {"specviz/servers/kinds.py", *IMPORT_A_CONVERTER.get(kind, ())}
    assert importers == allowed, "go through servers.kinds"


def test_client_timing_and_launcher_do_not_name_a_kind_of_server():
    shared = [path for path in PROGRAM if name_of(path).startswith(KINDLESS)]
    assert shared
    names = {name for kind in KIND_ROOMS for name in (kind, kind.replace("_", " "))}
    for path in shared:
        text = path.read_text(encoding="utf-8").casefold()
        assert not [name for name in (*names, *OTHER_NAMES) if name in text], name_of(path)


def test_no_files_import_each_other_in_a_circle():
    modules = {dotted(path): path for path in PROGRAM}
    arrows = {name: set(within(modules, path)) - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def dotted(path: Path) -> str:
    """`specviz/store/owner.py` → specviz.store.owner; `…/store/__init__.py` → specviz.store."""
    parts = path.relative_to(PROJECT_ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def within(modules: dict[str, Path], path: Path) -> Iterator[str]:
    """The program's modules that the file imports: the name, or the module that has the name."""
    for name in imported(path):
        yield from (one for one in (name, name.rpartition(".")[0]) if one in modules)


def test_shelves_stay_short():
    files = (path for name in SHELVES for path in (PROJECT_ROOT / name).rglob("*"))
    shelves = Counter(path.parent for path in files if path.suffix in CODE)
    assert {name_of(folder) for folder in shelves} >= set(SHELVES)
    too_full = {
        name_of(folder): count for folder, count in shelves.items() if count > FULLEST_SHELF
    }
    assert not too_full, "which folders are hidden in the names?"


def test_files_stay_short():
    lengths = {name_of(path): path.read_text(encoding="utf-8").count("\n") for path in ALL_FILES}
    too_long = {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE}
    assert not too_long, "which noun can move out?"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch", {"torch"}),
        ("try:\n    from vllm.v1 import x\nexcept ImportError:\n    pass", {"vllm"}),
        ("class A:\n    import torch", {"torch"}),
        ("def f():\n    import torch", set()),
        ("if TYPE_CHECKING:\n    import torch", set()),
    ],
)
def test_import_time_is_told_from_call_time(tmp_path: Path, source: str, found: set[str]):
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    assert packages(path, at_import_time=True) == found
