"""Where `specviz run` takes the prompt from."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from specviz.cli import app
from specviz.commands import single_run
from specviz.config import Prompt, RunConfig


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []

    def run_once(config: RunConfig, prompt: Prompt, *others: object, **named: object) -> int:
        found.append(prompt.text)
        return 0

    monkeypatch.setattr(single_run, "run_once", run_once)
    return found


def run(*arguments: str, given: bytes | None = None) -> str:
    done = CliRunner().invoke(app, ["run", *arguments], input=given)
    return str(done.exception) if done.exit_code else ""


LONG = "Eine lange Übersicht. " * 20_000
"""Longer than the 128 KiB that Linux takes for one argument (coddy-agent 220)."""


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (LONG.encode(), LONG),
        (b"Write a haiku.\n", "Write a haiku."),  # as from --prompt "Write a haiku."
        (b"\xef\xbb\xbfWrite\r\na haiku.\r\n", "Write\r\na haiku."),
        (b"Two lines end it.\n\n", "Two lines end it.\n"),  # mistral.rs 2426: kept as they are
    ],
)
def test_a_file_or_standard_input(
    tmp_path: Path, asked: list[str], content: bytes, text: str
) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(content)
    assert run("--prompt-file", str(file)) == ""
    assert run("--prompt-file", "-", given=content) == ""
    assert run("--prompt", "-", given=content) == ""
    assert asked == [text] * 3


def test_words_are_sent_as_they_are(asked: list[str]) -> None:
    run("--prompt", "@file")
    assert asked == ["@file"]


@pytest.mark.parametrize(
    ("arguments", "given", "says"),
    [
        ((), None, "Give the prompt with --prompt or --prompt-file"),
        (("--prompt", "hi", "--prompt-file", "-"), b"hi", "Give the prompt with --prompt or"),
        (("--prompt-file", "/nowhere.txt"), None, "/nowhere.txt cannot be read (No such file"),
        (("--prompt", "-"), b"Gr\xfc\xdfe", "standard input, line 1: this is not UTF-8"),
        (("--prompt-file", "-"), b"\n", "The prompt is empty"),
    ],
)
def test_no_prompt(
    asked: list[str], arguments: tuple[str, ...], given: bytes | None, says: str
) -> None:
    assert says in run(*arguments, given=given)
    assert asked == []
