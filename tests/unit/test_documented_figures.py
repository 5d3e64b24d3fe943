"""Every performance figure in README.md and docs/ comes from a result file.

Tables and figures are blocks that `python -m benchmarks.tables` writes. Outside of blocks there are
only limits, defaults and definitions, which are listed here.
"""

import json
import re
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES
from benchmarks.results_file import METADATA, RESULTS, command, load, save
from benchmarks.tables.documents import BLOCK, TABLES, documents, fill

FIGURE = re.compile(
    r"(?<![\w.])\d[\d.,]*(?:×(?!\w)"
    r"|\s?(?:%|µs|ms|s|seconds|min|minutes|tok/s|tokens/s|rows/s|bytes|[KMG]i?B)(?![\w/]))"
)

NOT_MEASURED = {
    "README.md": [],
    "CHANGELOG.md": [],
    "CONTRIBUTING.md": [],
    "docs/architecture.md": [],
    "docs/benchmarks.md": [
        *("at 10 % or more", "at most about 10 % too slow", "ticks of 10 ms"),
        "something else used 48 %",  # an example of the sentence
    ],
    "docs/export-and-import.md": [
        *("at most 24 MB of replays", "may take 1 GiB and 100 times", "once 1 GiB"),
    ],
    "docs/measurements.md": [],
    "docs/reliability.md": [
        *("and 64 MiB, since Parquet", "may take 1 GiB and 100 times", "read at once, 1 GiB"),
        "raises the 1 GiB",
    ],
    "docs/security.md": ["256 MiB |", "256 KiB |", "64 KiB |", "8 GiB |", "1 MiB |"],
    "docs/shared-store.md": ["every 5 s instead of every 0.5 s", "every 10 minutes"],
}
"""Limits, intervals and definitions, by document; each is a fact of the code, not a measurement."""

RESULT_FILES = sorted(RESULTS.glob("*.json"))


def figures_by_hand(text: str, allowed: list[str]) -> list[str]:
    """The figures outside of blocks and of the phrases allowed."""
    text = BLOCK.sub("", text)
    for phrase in allowed:
        text = text.replace(phrase, "")
    return [found.group() for found in FIGURE.finditer(text)]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_tables_are_those_of_the_result_files(path: Path):
    text = path.read_text(encoding="utf-8")
    assert fill(text) == text, "run python -m benchmarks.tables"
    assert text.count("<!-- figures:") == len(list(BLOCK.finditer(text)))


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_no_figure_is_written_by_hand(path: Path):
    name = path.relative_to(RESULTS.parents[1]).as_posix()
    text = path.read_text(encoding="utf-8")
    assert not figures_by_hand(text, NOT_MEASURED.get(name, []))
    assert all(phrase in text for phrase in NOT_MEASURED.get(name, [])), "an outdated exception"


def test_exceptions_are_of_documents_that_exist():
    names = {path.relative_to(RESULTS.parents[1]).as_posix() for path in documents()}
    assert NOT_MEASURED.keys() <= names


@pytest.mark.parametrize("path", RESULT_FILES, ids=lambda path: path.stem)
def test_a_result_file_says_how_to_measure_it_again(path: Path):
    figures = json.loads(path.read_text(encoding="utf-8"))
    assert not [key for key in METADATA if key not in figures]
    assert datetime.fromisoformat(figures["date"]).tzinfo
    assert figures["git_revision"] and figures["hardware"]
    module = re.match(r"python -m (benchmarks\.\w+)", figures["command"])[1]
    assert can_be_run(module), "a recorded command must still work"


def test_make_bench_can_run_every_benchmark():
    assert not [name for name in NAMES if not can_be_run(f"benchmarks.{name}")]


def can_be_run(module: str) -> bool:
    """Whether `python -m` finds something to run: a file, or a package with a `__main__`."""
    spec = find_spec(module)
    is_package = spec is not None and spec.submodule_search_locations is not None
    return spec is not None and (not is_package or find_spec(f"{module}.__main__") is not None)


@pytest.mark.parametrize("path", RESULT_FILES, ids=lambda path: path.stem)
def test_every_table_can_be_made_of_its_file(path: Path):
    for table in TABLES[path.stem].values():
        assert "| --- |" in table(json.loads(path.read_text(encoding="utf-8")))


def test_every_table_is_in_a_document():
    text = "".join(path.read_text(encoding="utf-8") for path in documents())
    shown = {(found["file"], found["table"]) for found in BLOCK.finditer(text)}
    assert shown == {(file, table) for file, tables in TABLES.items() for table in tables}


def test_a_changed_result_changes_the_document():
    text = (RESULTS.parents[1] / "README.md").read_text(encoding="utf-8")

    def faster(name: str):
        figures = load(name)
        assert figures is not None
        for row in figures["rows"]:
            if row["speedup"] is not None:  # where no answer equals plain decoding's
                row["speedup"] *= 2
        return figures

    assert fill(text, faster) != text


def test_a_missing_result_is_named():
    text = "<!-- figures: benchmarks/results/speedup.json categories -->\n<!-- end of figures -->"
    assert "Not measured yet" in fill(text, lambda name: None)


def test_an_unknown_table_is_an_error():
    text = "<!-- figures: benchmarks/results/speedup.json nothing -->\n<!-- end of figures -->"
    with pytest.raises(KeyError):
        fill(text)


@pytest.mark.parametrize(
    "text",
    [
        *("1.86× at K 5", "takes 71 s", "5.5 ms", "29.5 bytes", "off by 3.6 %", "12% more"),
        *("1,200 tok/s", "650 MiB", "2.5 GB", "(0.96×, 0.86", "10 minutes", "1.22 M rows/s, 8 µs"),
    ],
)
def test_a_figure_is_recognised(text: str):
    assert figures_by_hand(text, [])


@pytest.mark.parametrize(
    "text",
    ["2 × AMD EPYC", "K = 5", "vLLM 0.32", "tpot_ms = 20", "20,000 requests", "3 steps", "95 % of"],
)
def test_other_numbers_are_not(text: str):
    assert not figures_by_hand(text, ["95 %"])


def test_a_result_file_has_the_command_that_was_run(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/benchmarks/lossless.py", "--prompts", "14"])
    save(tmp_path / "lossless.json", {"rows": []}, prompts=84)
    saved = json.loads((tmp_path / "lossless.json").read_text(encoding="utf-8"))
    assert saved["command"] == "python -m benchmarks.lossless --prompts 14"
    assert saved["prompts"] == 84 and saved["rows"] == []
    assert set(METADATA) < set(saved)
    assert command(["speedup"]) == "python -m benchmarks.speedup"
    assert command(["/somewhere/benchmarks/speedup/__main__.py"]) == "python -m benchmarks.speedup"
