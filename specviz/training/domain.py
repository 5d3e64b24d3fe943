"""Reading a user's domain: prompts, with or without answers, from JSONL or plain text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from specviz.errors import UsageError

# One in five is held out; fewer documents would leave less than two to measure on.
HELD_OUT_SHARE = 0.2
LEAST_DOCUMENTS = 10


@dataclass(frozen=True)
class Exchange:
    """A prompt and its answer, None if the target is to write it. `line`: its line in the file."""

    prompt: str
    answer: str | None
    line: int


@dataclass(frozen=True)
class Domain:
    """The exchanges to learn from and those to measure on."""

    learnt: list[Exchange]
    held_out: list[Exchange]


def read_domain(file: Path) -> Domain:
    """The exchanges of `file`, every fifth one held out.

    A .jsonl file has an object with "prompt" and optionally "answer" on every line; in any other
    text every paragraph is a prompt. Held-out prompts are never learnt. Raises UsageError for a
    file that cannot be used, with the offending line.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read as UTF-8 text: {error}.") from error
    exchanges = _lines(file, text) if file.suffix == ".jsonl" else _paragraphs(text)
    prompts = list(dict.fromkeys(exchange.prompt for exchange in exchanges))
    if len(prompts) < LEAST_DOCUMENTS:
        raise UsageError(
            f"{file} has {len(prompts)} different prompts: at least {LEAST_DOCUMENTS} are needed, "
            "so that some can be held out."
        )
    held_out = set(prompts[:: round(1 / HELD_OUT_SHARE)])
    return Domain(
        learnt=[exchange for exchange in exchanges if exchange.prompt not in held_out],
        held_out=[exchange for exchange in exchanges if exchange.prompt in held_out],
    )


def _lines(file: Path, text: str) -> list[Exchange]:
    return [
        _exchange(file, number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]


def _exchange(file: Path, number: int, line: str) -> Exchange:
    where = f"{file}, line {number}"
    try:
        data = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where} is not JSON: {error}.") from error
    if not isinstance(data, dict):
        raise UsageError(f'{where} is not an object: write {{"prompt": "…", "answer": "…"}}.')
    if unknown := sorted(set(data) - {"prompt", "answer"}):
        raise UsageError(
            f'{where} has the key {unknown[0]!r}: only "prompt" and "answer" are read.'
        )
    for key in ("prompt", "answer"):
        if (key in data or key == "prompt") and not _is_text(data.get(key)):
            raise UsageError(f'{where} needs "{key}" as a text that is not empty.')
    return Exchange(data["prompt"].strip(), data.get("answer"), number)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _paragraphs(text: str) -> list[Exchange]:
    """Blocks between empty lines, with the number of their first line."""
    found: list[Exchange] = []
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip():
            block.append(line)
        elif block:
            found.append(Exchange("\n".join(block).strip(), None, number - len(block)))
            block = []
    return found
