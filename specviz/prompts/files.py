"""A file of prompts: its form, its entries, and which of them are skipped."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from specviz.errors import UsageError
from specviz.prompts.formats import FORMATS, READERS, Conversation, Entry, form_of
from specviz.prompts.placeholders import is_placeholder

KNOWN = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
TABLES = (".csv", ".tsv")
STANDARD_INPUT = Path("-")
SPACE = re.compile(r"[ \t\r\n]*")  # what JSON takes for white space
MOST_KEYS = 10
MOST_PLACES = 3
MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class PromptFile:
    """The entries of a file that can be asked, in its order; `skipped` is a sentence about the
    others, None if there are none."""

    conversations: tuple[Conversation, ...]
    skipped: str | None = None


def read_prompt_file(path: Path, form: str | None = None) -> PromptFile:
    """The entries of a prompt file, `-` for standard input; `form` None recognises it.

    UTF-8, with or without a byte order mark. Entries that are not of the form, placeholders (see
    `placeholders`) and prompts that are there already are skipped: public files of 90,000
    conversations have some of each. An id that is there already gets its line behind it. Raises
    UsageError for a file that cannot be read and for one without any entry to ask.
    """
    if form is not None and form not in FORMATS:
        raise UsageError(f"There is no prompt format {form!r}: use {KNOWN}.")
    text, path = read_text(path), _name(path)
    form = form or recognised(path, text)
    entries = list(_lines(path, text) if form == "text" else _entries(path, text))
    if not entries:
        raise UsageError(f"{path} has no prompts: fill it or name another file.")
    taken, skipped = _sorted_out(entries, form)
    if not taken:
        raise _none_usable(path, skipped)
    note = f"{len(skipped):,} of {len(entries):,} entries are skipped: {_reasons(path, skipped)}"
    return PromptFile(tuple(taken), f"{path}: {note}." if skipped else None)


def read_conversations(path: Path, form: str | None = None) -> tuple[Conversation, ...]:
    """The conversations of `read_prompt_file`."""
    return read_prompt_file(path, form).conversations


def recognised(path: Path, text: str) -> str:
    """The form of a file by its content. Raises UsageError if no form fits."""
    choose = f"say which format it has: {KNOWN}"
    if path.suffix.lower() in TABLES or "\0" in text:
        raise UsageError(f"{path} is a table or not a text: export it as JSONL, or {choose}.")
    if not text.lstrip().startswith(("{", "[")):
        return "text"
    first: Entry | UsageError | None = None
    try:
        for entry in _entries(path, text):
            if isinstance(entry, Entry) and (form := form_of(entry.data)):
                return form
            first = first or entry
    except UsageError as error:
        first = first or error
    if first is None:
        return "specviz"
    if isinstance(first, UsageError):
        raise UsageError(f"{str(first).rstrip('.')}; if it is meant so, {choose}.") from first
    keys = ", ".join(map(repr, list(first.data)[:MOST_KEYS])) or "nothing"
    raise UsageError(f"{first.place}: no format has the keys {keys}: {choose}.")


def read_text(path: Path) -> str:
    """The text of a file or, for `-`, of standard input, without a byte order mark.

    Raises UsageError for what cannot be read or is not UTF-8.
    """
    try:
        content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check its name.") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        name = _name(path)
        raise UsageError(f"{name}, line {line}: this is not UTF-8: save it as UTF-8.") from error


def _name(path: Path) -> Path:
    return Path("standard input") if path == STANDARD_INPUT else path


def _lines(path: Path, text: str) -> Iterator[Entry]:
    """The lines that are not blank, as entries of a prompt each."""
    # Not splitlines(): it also breaks at U+2028 and others, which JSON allows within a text.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Entry({"prompt": line.strip()}, str(path), number)


def _entries(path: Path, text: str) -> Iterator[Entry | UsageError]:
    """The objects of a JSONL file or of a JSON array, an error for each that is none.

    Raises UsageError for an array that is damaged: nothing says where its next entry begins.
    """
    return _elements(path, text) if text.lstrip().startswith("[") else _objects(path, text)


def _objects(path: Path, text: str) -> Iterator[Entry | UsageError]:
    for entry in _lines(path, text):
        try:
            data = json.loads(str(entry.data["prompt"]))
        except (ValueError, RecursionError) as error:
            yield UsageError(
                f"{entry.place}: this is not JSON ({_reason(error)}): JSONL has one whole object "
                "per line."
            )
        else:
            yield _entry(data, path, entry.line)


def _elements(path: Path, text: str) -> Iterator[Entry | UsageError]:
    """The objects of the array, each with the line that it begins on."""
    decoder = json.JSONDecoder()
    line, seen, number = 1, 0, 0
    position = _after_space(text, text.index("[") + 1)
    more = not text.startswith("]", position)
    while more:
        number += 1
        line, seen = line + text.count("\n", seen, position), position
        place = Entry({}, str(path), line, number).place
        try:
            data, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{place}: this is not JSON ({_reason(error)}): correct it."
            ) from error
        yield _entry(data, path, line, number)
        position = _after_space(text, end)
        more = text.startswith(",", position)
        if more:
            position = _after_space(text, position + 1)
        elif not text.startswith("]", position):
            raise UsageError(f"{place}: no comma or ] follows: the array is cut off or damaged.")
    rest = _after_space(text, position + 1)
    if rest < len(text):
        line += text.count("\n", seen, rest)
        raise UsageError(f"{path}, line {line}: something follows the array: remove it.")


def _after_space(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg if error.lineno == 1 else f"{error.msg}, line {error.lineno}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _entry(data: object, path: Path, line: int, number: int | None = None) -> Entry | UsageError:
    if isinstance(data, list) and data and all(isinstance(message, dict) for message in data):
        data = {"conversations": data}  # ShareGPT's messages without the object around them
    if not isinstance(data, dict):
        place = Entry({}, str(path), line, number).place
        return UsageError(f"{place}: this is not a JSON object: write one {{...}} per prompt.")
    return Entry(data, str(path), line, number)


def _sorted_out(
    entries: Sequence[Entry | UsageError], form: str
) -> tuple[list[Conversation], list[UsageError]]:
    """The conversations that can be asked, and why the other entries cannot."""
    taken: list[Conversation] = []
    skipped: list[UsageError] = []
    contents: set[object] = set()
    ids: set[str] = set()
    for entry in entries:
        try:
            conversation = _usable(entry, form, contents)
        except UsageError as error:
            skipped.append(error)
            continue
        if conversation.item_id in ids and isinstance(entry, Entry):
            conversation = replace(conversation, item_id=f"{conversation.item_id} ({entry.name})")
        contents.add(_content(conversation))
        ids.add(conversation.item_id)
        taken.append(conversation)
    return taken, skipped


def _usable(entry: Entry | UsageError, form: str, contents: set[object]) -> Conversation:
    """Raises UsageError for an entry that cannot be asked, or is in `contents`."""
    if isinstance(entry, UsageError):
        raise entry
    conversation = READERS[form](entry)
    if any(map(is_placeholder, _asked(conversation))):
        raise UsageError(f"{entry.place}: a placeholder is not a prompt.")
    if _content(conversation) in contents:
        raise UsageError(f"{entry.place}: the same prompt is there already.")
    return conversation


def _none_usable(path: Path, skipped: Sequence[UsageError]) -> UsageError:
    if len(skipped) == 1:
        return skipped[0]
    return UsageError(
        f"{path}: none of {len(skipped):,} entries can be asked: {_reasons(path, skipped)}."
    )


def _reasons(path: Path, skipped: Sequence[UsageError]) -> str:
    """`no message is from human (line 3, line 7 and 40 more); …`, the most frequent first."""
    places: dict[str, list[str]] = defaultdict(list)
    for error in skipped:
        at, _, reason = str(error).removeprefix(f"{path}, ").partition(": ")
        places[reason.rstrip(".")].append(at)
    ranked = sorted(places.items(), key=lambda found: -len(found[1]))
    shown = [f"{reason} ({_listed(at)})" for reason, at in ranked[:MOST_REASONS]]
    if others := sum(len(at) for _, at in ranked[MOST_REASONS:]):
        shown.append(f"{others:,} for other reasons")
    return "; ".join(shown)


def _asked(conversation: Conversation) -> Iterator[str]:
    """What the user says in the conversation."""
    yield from (message.content for message in conversation.earlier if message.role == "user")
    yield from conversation.turns


def _content(conversation: Conversation) -> tuple[object, ...]:
    """What is asked, without the white space around it."""
    return (
        tuple(turn.strip() for turn in conversation.turns),
        tuple((message.role, message.content.strip()) for message in conversation.earlier),
    )


def _listed(places: Sequence[str]) -> str:
    """`line 3`, `line 3 and line 7`, `line 1, line 2, line 3 and 40 more`."""
    shown = list(places[:MOST_PLACES])
    if len(places) == 1:
        return shown[0]
    last = f"{len(places) - MOST_PLACES:,} more" if len(places) > MOST_PLACES else shown.pop()
    return f"{', '.join(shown)} and {last}"
