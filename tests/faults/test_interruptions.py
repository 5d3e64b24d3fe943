"""Ctrl-C whatever it meets: exit code 130, one sentence, and nothing that was there is lost.

The quick cases send it when a state is reached; the slow one at two hundred moments that a seed
chooses.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from specviz.config import RunStatus
from specviz.store import open_store
from specviz.store.exchange import Format, export, import_file
from specviz.store.history.history import read_history
from specviz.store.runs.runs import read_requests, read_run, read_trace
from tests.support.children import wait_until_gone, whose_environment_has
from tests.support.faults.forked_commands import WITH_TORCH, Commands, Ended
from tests.support.faults.killed_work import run_ids
from tests.support.store.exchange_samples import filled
from tests.support.store.round_trip import assert_equal_rows, assert_whole

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

HOW = """
import atexit, functools, importlib, os, signal, sys, time

def ctrl_c(number=signal.SIGINT):
    os.kill(os.getpid(), number)

def ctrl_c_in_duckdb():
    "It looks for signals itself, and makes a RuntimeError of what their handler raises."
    try:
        ctrl_c()
        time.sleep(600)
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None

def ctrl_c_in_a_destructor():
    class Last:
        def __del__(self):
            ctrl_c()
            for _ in range(1000):
                pass
    Last()
    time.sleep(600)

def before(module, name, act, *, call=1):
    "Act as the function is called for the `call`-th time."
    owner = importlib.import_module(module)
    *classes, name = name.split(".")
    for one in classes:
        owner = getattr(owner, one)
    real, calls = getattr(owner, name), []
    @functools.wraps(real)
    def called(*args, **kwargs):
        calls.append(1)
        if len(calls) == call:
            act()
        return real(*args, **kwargs)
    setattr(owner, name, called)

class AsImported:
    "Act as a module is imported."
    def __init__(self, name, act):
        self.name, self.act = name, act
    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            self.act()
"""

SLOW = pytest.mark.slow

PLAN = """
name = "stopped"
warmup = 0
max_tokens = 4
[prompts]
file = "{prompts}"
format = "spec-bench"
[[arms]]
engine = "embedded"
method = "baseline"
[[arms]]
engine = "embedded"
method = "ngram"
"""


@dataclass(frozen=True)
class Place:
    """Databases and files of one case; what a command leaves where temporary files go is seen."""

    folder: Path

    @property
    def db(self) -> Path:
        return self.folder / "runs.duckdb"

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    @property
    def exported(self) -> Path:
        return self.folder / "exported.zip"


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    with Commands(WITH_TORCH, OMP_NUM_THREADS="1") as started:
        yield started


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """full.duckdb, empty.duckdb, all.zip and all.jsonl."""
    folder = tmp_path_factory.mktemp("templates")
    with open_store(folder / "empty.duckdb"):
        pass
    with open_store(folder / "full.duckdb") as store:
        filled(store)
        export(store, None, Format.PARQUET, folder / "all.zip")
        export(store, None, Format.JSONL, folder / "all.jsonl")
    return folder


@pytest.fixture
def place(tmp_path: Path, templates: Path) -> Place:
    return placed(tmp_path, templates)


def placed(folder: Path, templates: Path) -> Place:
    place = Place(folder)
    place.temporary.mkdir(parents=True)
    shutil.copy(templates / "full.duckdb", place.db)
    return place


def assert_stopped(ended: Ended, code: int = 130) -> None:
    """One sentence, its code, and no thread when the interpreter ended."""
    assert ended.code == code, ended
    assert len(ended.sentences) == 1 and ended.sentences[0].startswith("Stopped"), ended.err
    assert ended.threads == ["MainThread"]


def assert_nothing_lost(place: Place, templates: Path) -> None:
    """All that was there is there, nothing is called damaged, no temporary is left."""
    assert list(place.temporary.iterdir()) == []
    names = {path.name for path in place.folder.iterdir()}
    assert not [name for name in names if "damaged" in name or name.startswith(".specviz-")]
    with open_store(templates / "full.duckdb") as full, open_store(place.db) as store:
        before, after = run_ids(full), run_ids(store)
        assert set(before) <= set(after)
        for run_id in set(after) - set(before):
            assert store.read(read_run, run_id).status is not RunStatus.RUNNING


def stopped(commands: Commands, place: Place, *arguments: object, first: str) -> Ended:
    """A command on the place's database that gets Ctrl-C as `first` says."""
    return commands.run(
        place.folder / "command", *arguments, "--db", place.db,
        first=HOW + first, TMPDIR=str(place.temporary),
    )  # fmt: skip


QUERY = ("query", "SELECT run_id FROM runs")


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(
            "sys.meta_path.insert(0, AsImported('specviz.commands.policy', ctrl_c))",
            id="while Python imports",
        ),
        pytest.param(
            "before('specviz.store.store', 'apply', ctrl_c_in_duckdb)", id="while migrating"
        ),
        pytest.param(
            "before('specviz.store.sql.process', 'SqlProcess.receive', ctrl_c)",
            id="while the query's process answers",
            marks=SLOW,
        ),
        pytest.param(
            "before('specviz.commands.query', '_answer', ctrl_c_in_a_destructor)",
            id="in a destructor, where Python goes on",
        ),
    ],
)
def test_whatever_it_interrupts(
    commands: Commands, place: Place, templates: Path, first: str
) -> None:
    assert_stopped(stopped(commands, place, *QUERY, first=first))
    assert_nothing_lost(place, templates)


def test_sigterm_stops_as_cleanly(commands: Commands, place: Place, templates: Path) -> None:
    first = "before('specviz.commands.query', '_answer', lambda: ctrl_c(signal.SIGTERM))"
    assert_stopped(stopped(commands, place, *QUERY, first=first), 143)
    ignored = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"  # a shell's background job
    assert_stopped(stopped(commands, place, *QUERY, first=ignored + first), 143)
    assert_nothing_lost(place, templates)


@pytest.mark.slow
def test_a_command_that_is_done_is_not_stopped_any_more(commands: Commands, place: Place) -> None:
    ended = stopped(commands, place, *QUERY, "--json", first="atexit.register(ctrl_c)")
    assert ended.code == 0 and len(json.loads(ended.out)["rows"]) >= 2
    assert not [line for line in ended.sentences if "row" not in line], ended.err


@pytest.mark.parametrize(
    ("name", "first"),
    [
        pytest.param(
            "all.zip",
            "before('specviz.store.exchange.parquet_file', 'check_tables', ctrl_c_in_duckdb)",
            marks=SLOW,
        ),
        (
            "all.zip",
            "before('specviz.store.exchange.importing', 'with_current_names', ctrl_c_in_duckdb)",
        ),
        pytest.param(
            "all.jsonl",
            "before('specviz.store.file.writer', 'Writer._commit', ctrl_c)",
            marks=SLOW,
        ),
    ],
    ids=["zip, checking", "zip, reading", "lines, storing"],
)
def test_an_import_calls_no_file_damaged(
    commands: Commands, place: Place, templates: Path, name: str, first: str
) -> None:
    shutil.copy(templates / "empty.duckdb", place.db)
    ended = stopped(commands, place, "import", templates / name, templates / name, first=first)
    assert_stopped(ended)
    assert "import them again" in ended.err
    with open_store(templates / "full.duckdb") as full, open_store(place.db) as store:
        assert run_ids(store) in ([], run_ids(full))
        import_file(store, templates / name)
        assert_equal_rows(full, store)
    assert list(place.temporary.iterdir()) == []


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(
            "before('specviz.store.exchange.exporting', 'selected', ctrl_c_in_duckdb)",
            marks=SLOW,
        ),
        "before('specviz.store.exchange.exporting', 'zip_folder', ctrl_c)",
    ],
    ids=["reading", "writing"],
)
def test_an_export_leaves_no_part_of_a_file(
    commands: Commands, place: Place, templates: Path, first: str
) -> None:
    ended = stopped(commands, place, "export", "--all", "-o", place.exported, first=first)
    assert_stopped(ended)
    assert not place.exported.exists()
    assert_nothing_lost(place, templates)


@needs_torch
def test_a_run_keeps_what_had_arrived(commands: Commands, place: Place, templates: Path) -> None:
    first = "before('specviz.store.runs.recorder', 'StoreRecorder.append', ctrl_c, call=4)"
    ended = stopped(commands, place, "run", "--prompt", "Hello", "--method", "ngram", first=first)
    assert ended.sentences.pop(0) == "loading the models"
    assert ended.code == 130 and ended.sentences[1:] == ["Stopped: what had arrived is kept."]
    assert ended.threads == ["MainThread"]
    assert_nothing_lost(place, templates)
    with open_store(place.db) as store:
        run = store.read(read_history).rows[0].item.item_id
        (request,) = store.read(read_requests, run)
        assert request.status is RunStatus.CANCELLED
        assert len(store.read(read_trace, request.request_id).steps) >= 3


@needs_torch
def test_a_benchmark_is_cancelled_and_can_go_on(commands: Commands, place: Place) -> None:
    first = "before('specviz.commands.benchmark.run', '_follow_in_lines', ctrl_c)"
    ended = stopped(commands, place, "bench", plan(place), "--json", first=first)
    assert ended.code == 130 and ended.threads == ["MainThread"]
    found = json.loads(ended.out)
    assert found["status"] == "cancelled"
    assert f"specviz bench --resume {found['benchmark_id']}" in ended.sentences[-1]
    again = stopped(commands, place, "bench", "--resume", found["benchmark_id"], "--json", first="")
    assert again.code == 0 and json.loads(again.out)["status"] == "finished"
    assert again.threads == ["MainThread"]


@pytest.mark.slow
@needs_torch
def test_a_second_ctrl_c_waits_for_no_thread(commands: Commands, place: Place) -> None:
    """A model that loads for ten minutes cannot be told to stop."""
    first = """
def ctrl_c_again():
    while True:  # two that come at once are one
        ctrl_c()
        time.sleep(0.5)
before('specviz.engines.embedded.opening', 'open_engine', ctrl_c_again)
"""
    ended = stopped(commands, place, "run", "--prompt", "Hello", first=first)
    assert ended.code == 130 and ended.sentences[-1].startswith("Stopped")
    assert ended.threads == [], "it was waited for"
    with open_store(place.db):
        pass


@pytest.mark.slow
@needs_torch
@pytest.mark.parametrize("method", [pytest.param("draft_model", marks=SLOW), "mirror"])
def test_a_run_leaves_no_thread(commands: Commands, place: Place, method: str) -> None:
    ended = stopped(
        commands, place, "run", "--prompt", "Hello", "--method", method, "--max-tokens", "8",
        first="",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert ended.threads == ["MainThread"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("import", "{templates}/full.duckdb"), 2),
        (("query", "SELECT nothing"), 1),
        (("servers", "add", "gone", "http://127.0.0.1:9"), 0),
        (("servers", "check", "http://127.0.0.1:9"), 2),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else None,
)
def test_no_command_leaves_a_thread(
    commands: Commands, place: Place, templates: Path, arguments: tuple[str, ...], code: int
) -> None:
    words = [one.format(templates=templates) for one in arguments]
    ended = stopped(commands, place, *words, first="")
    assert ended.code == code, ended.err
    assert ended.threads == ["MainThread"]


def plan(place: Place) -> Path:
    prompts = place.folder / "prompts.jsonl"
    lines = [{"question_id": index, "turns": [f"Count to {index}."]} for index in range(4)]
    prompts.write_text("\n".join(map(json.dumps, lines)))
    file = place.folder / "plan.toml"
    file.write_text(PLAN.format(prompts=prompts))
    return file


SEED = 20261126
MOMENTS = {
    "run": 40, "bench": 25, "import_parquet": 25, "import_lines": 20, "export": 30, "query": 30,
    "migration": 15, "serve": 10, "verify": 5,
}  # fmt: skip
"""Interruptions by command: 200."""

DONE = ((0,), (0, 1, 2))
"""Exit codes of a command that nobody stopped, and of `verify`, which asks too little here."""

UGLY = ("Traceback", "terminate called", "damaged", "Exception ignored", "Query interrupted")
SCHEMAS = Path(__file__).parents[1] / "unit" / "store" / "data"
MARK = "SPECVIZ_INTERRUPTED"
SERVING_S = 1.0
"""How long a server goes on once it answers, among the moments of its interruptions."""


@needs_torch
@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_two_hundred_moments(commands: Commands, templates: Path, tmp_path: Path) -> None:
    done: Counter[str] = Counter()
    for operation, wanted in MOMENTS.items():
        rng = random.Random(f"{SEED} {operation}")
        span_s = length_s(commands, operation, tmp_path / f"{operation}-whole", templates, rng)
        for attempt in range(20 * wanted):
            if done[operation] == wanted:
                break
            folder = tmp_path / f"{operation}-{attempt}"
            after_s = rng.uniform(0.0, span_s)
            ended = interrupted(commands, operation, folder, templates, rng, after_s)
            assert not [word for word in UGLY if word in ended.err + ended.out], (folder, ended)
            assert ended.code in (130, *DONE[operation == "verify"]), (folder, ended)
            assert ended.threads == ["MainThread"], (folder, ended)
            if ended.code == 130:
                done[operation] += 1
                last = ended.sentences[-1]
                assert last.startswith("Stopped") or "specviz bench --resume" in last, ended
            check(operation, Place(folder), templates, ended)
            shutil.rmtree(folder)
        print(f"{operation}: {done[operation]} stopped of {attempt}", flush=True)
    assert done == MOMENTS


def length_s(
    commands: Commands, operation: str, folder: Path, templates: Path, rng: random.Random
) -> float:
    """How long the command goes on from where it can be interrupted, with nobody to do it."""
    place = prepared(operation, folder, templates, rng)
    command = commands.start(
        folder / "command", *words(operation, place, templates), TMPDIR=str(place.temporary)
    )
    command.wait_until(lambda seen: seen.watches_signals)
    began_s = time.monotonic()
    if operation == "serve":
        command.wait_until(lambda seen: "http://" in seen.out.read_text())
        time.sleep(SERVING_S)
        os.kill(command.pid, signal.SIGINT)
    else:
        command.wait_until(lambda seen: False)
    taken_s = time.monotonic() - began_s
    ended = commands.ended(command)
    assert ended.code in ((130,) if operation == "serve" else DONE[operation == "verify"]), ended
    return taken_s


def interrupted(
    commands: Commands,
    operation: str,
    folder: Path,
    templates: Path,
    rng: random.Random,
    after_s: float,
) -> Ended:
    place = prepared(operation, folder, templates, rng)
    command = commands.start(
        folder / "command", *words(operation, place, templates),
        TMPDIR=str(place.temporary), **{MARK: "1"},
    )  # fmt: skip
    command.wait_until(lambda seen: seen.watches_signals)
    time.sleep(after_s)
    os.kill(command.pid, signal.SIGINT)
    ended = commands.ended(command)
    assert wait_until_gone(whose_environment_has(MARK)) == []
    return ended


def prepared(operation: str, folder: Path, templates: Path, rng: random.Random) -> Place:
    place = placed(folder, templates)
    if operation.startswith("import"):
        shutil.copy(templates / "empty.duckdb", place.db)
    elif operation == "migration":
        old = rng.choice(sorted(SCHEMAS.glob("schema-*.duckdb.gz")))
        place.db.write_bytes(gzip.decompress(old.read_bytes()))
    elif operation == "bench":
        plan(place)
    return place


def words(operation: str, place: Place, templates: Path) -> tuple[object, ...]:
    db = ("--db", place.db)
    return {
        "run": ("run", "--prompt", "Hello", "--max-tokens", "24", *db),
        "bench": ("bench", place.folder / "plan.toml", *db),
        "import_parquet": ("import", templates / "all.zip", *db),
        "import_lines": ("import", templates / "all.jsonl", *db),
        "export": ("export", "--all", "-o", place.exported, *db),
        "query": ("query", "SELECT sum(a.range * b.range) FROM range(9999) a, range(999) b", *db),
        "migration": ("query", "SELECT run_id FROM runs", *db),
        "serve": ("serve", "--kind", "llama.cpp"),
        "verify": ("verify", "--kind", "llama.cpp", "--prompts", "1", "--answers", "2"),
    }[operation]


def check(operation: str, place: Place, templates: Path, ended: Ended) -> None:
    """Nothing that was there is lost, and what the command began can be done again."""
    assert list(place.temporary.iterdir()) == [], ended
    assert not [path for path in place.folder.iterdir() if path.name.startswith(".specviz-")]
    with open_store(templates / "full.duckdb") as full, open_store(place.db) as store:
        assert_whole(store)
        if operation.startswith("import"):
            assert run_ids(store) in ([], run_ids(full))
            import_file(store, templates / "all.zip")
            assert_equal_rows(full, store)
        elif operation == "migration":
            assert {"interrupted", "whole"} <= set(run_ids(store))
        else:
            assert set(run_ids(full)) <= set(run_ids(store))
        if place.exported.exists():
            import_file(store, place.exported)
    assert place.exported.exists() or operation != "export" or ended.code == 130
