"""A file of prompts: its form, its entries, and what is refused in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from specviz.errors import UsageError
from specviz.prompts.formats import FORMATS, READERS, Conversation, Entry, form_of
from specviz.prompts.placeholders import is_placeholder

KNOWN = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
TABLES = (".csv", ".tsv")
SPACE = re.compile(r"[ \t\r\n]*")  # what JSON takes for white space
LONGEST_QUOTE = 60
MOST_PLACES = 10


def read_conversations(path: Path, form: str | None = None) -> tuple[Conversation, ...]:
    """All entries of a prompt file, in its order; `form` None recognises it.

    UTF-8, with or without a byte order mark. Raises UsageError, with file and line, for what cannot
    be read, for placeholders (see `placeholders`) and for entries that are in the file twice.
    """
    if form is not None and form not in FORMATS:
        raise UsageError(f"There is no prompt format {form!r}: use {KNOWN}.")
    text = _read(path)
    form = form or recognised(path, text)
    entries = list(_lines(path, text) if form == "text" else _entries(path, text))
    if not entries:
        raise UsageError(f"{path} has no prompts: fill it or name another file.")
    conversations = tuple(READERS[form](entry) for entry in entries)
    _refuse_placeholders(path, entries, conversations)
    _refuse_repeated(path, entries, conversations)
    return conversations


def recognised(path: Path, text: str) -> str:
    """The form of a file by its content. Raises UsageError if no form fits."""
    choose = f"say which format it has: {KNOWN}"
    if path.suffix.lower() in TABLES or "\0" in text:
        raise UsageError(f"{path} is a table or not a text: export it as JSONL, or {choose}.")
    if not text.lstrip().startswith(("{", "[")):
        return "text"
    try:
        first = next(_entries(path, text), None)
    except UsageError as error:
        raise UsageError(f"{str(error).rstrip('.')}; if it is meant so, {choose}.") from error
    form = form_of(first.data) if first else None
    if first and form is None:
        keys = ", ".join(map(repr, list(first.data)[:MOST_PLACES])) or "nothing"
        raise UsageError(f"{first.place}: no format has the keys {keys}: {choose}.")
    return form or "specviz"


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check its name.") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}, line {line}: this is not UTF-8: save it as UTF-8.") from error


def _lines(path: Path, text: str) -> Iterator[Entry]:
    """The lines that are not blank, as entries of a prompt each."""
    # Not splitlines(): it also breaks at U+2028 and others, which JSON allows within a text.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Entry({"prompt": line.strip()}, str(path), number)


def _entries(path: Path, text: str) -> Iterator[Entry]:
    """The objects of a JSONL file or of a JSON array."""
    return _elements(path, text) if text.lstrip().startswith("[") else _objects(path, text)


def _objects(path: Path, text: str) -> Iterator[Entry]:
    for entry in _lines(path, text):
        try:
            data = json.loads(str(entry.data["prompt"]))
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{entry.place}: this is not JSON ({_reason(error)}): JSONL has one whole object "
                "per line."
            ) from error
        yield _entry(data, path, entry.line)


def _elements(path: Path, text: str) -> Iterator[Entry]:
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


def _entry(data: object, path: Path, line: int, number: int | None = None) -> Entry:
    if not isinstance(data, dict):
        place = Entry({}, str(path), line, number).place
        raise UsageError(f"{place}: this is not a JSON object: write one {{...}} per prompt.")
    return Entry(data, str(path), line, number)


def _refuse_placeholders(
    path: Path, entries: Sequence[Entry], conversations: Sequence[Conversation]
) -> None:
    found = [
        (entry.at, prompt)
        for entry, conversation in zip(entries, conversations, strict=True)
        for prompt in _asked(conversation)
        if is_placeholder(prompt)
    ]
    if found:
        at, prompt = found[0]
        quoted = " ".join(prompt.split())[:LONGEST_QUOTE]
        raise UsageError(
            f"{path}, {_listed([at for at, _ in found])}: placeholders are not prompts "
            f'({at}: "{quoted}"): put real text there or remove them.'
        )


def _asked(conversation: Conversation) -> Iterator[str]:
    """What the user says in the conversation."""
    yield from (message.content for message in conversation.earlier if message.role == "user")
    yield from conversation.turns


def _refuse_repeated(
    path: Path, entries: Sequence[Entry], conversations: Sequence[Conversation]
) -> None:
    first_at: dict[object, Entry] = {}
    pairs: list[str] = []
    for entry, conversation in zip(entries, conversations, strict=True):
        for key in (_content(conversation), conversation.item_id):
            first = first_at.setdefault(key, entry)
            if first is not entry:
                what = "prompt" if key != conversation.item_id else f"id {conversation.item_id!r}"
                pairs.append(f"{first.at} and {entry.at} have the same {what}")
                break
    if pairs:
        shown = "; ".join(pairs[:MOST_PLACES])
        more = f"; and {len(pairs) - MOST_PLACES} more" if len(pairs) > MOST_PLACES else ""
        raise UsageError(f"{path}: {shown}{more}: keep one of each.")


def _content(conversation: Conversation) -> tuple[object, ...]:
    """What is asked, without the white space around it."""
    return (
        tuple(turn.strip() for turn in conversation.turns),
        tuple((message.role, message.content.strip()) for message in conversation.earlier),
    )


def _listed(places: Sequence[str]) -> str:
    """`line 3`, `line 3, line 7 and line 9`, `line 1, ..., line 10 and 40 more`."""
    places = list(dict.fromkeys(places))
    if len(places) == 1:
        return places[0]
    shown = places[:MOST_PLACES]
    last = f"{len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else shown.pop()
    return f"{', '.join(shown)} and {last}"
