"""The formats of prompt files: one entry of each format as a conversation.

Knows neither files nor sets: an `Entry` has its file and line for messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from specviz.config import Message
from specviz.errors import UsageError


@dataclass(frozen=True, slots=True)
class Conversation:
    """One entry of a prompt set: user turns that are asked one after another.

    The answer to a turn is part of the next one's prompt. `earlier` is what the file gives as the
    conversation so far. `max_tokens` is None where the entry does not say.
    """

    item_id: str
    turns: tuple[str, ...]
    category: str | None = None
    max_tokens: int | None = None
    earlier: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a prompt file and where it begins; `number` counts those of a JSON array."""

    data: Mapping[str, object]
    file: str
    line: int
    number: int | None = None

    @property
    def name(self) -> str:
        """Its id where it has none of its own."""
        return f"line-{self.line}" if self.number is None else f"entry-{self.number}"

    @property
    def at(self) -> str:
        # An array may be on one line.
        line = f"line {self.line}"
        return line if self.number is None else f"entry {self.number} ({line})"

    @property
    def place(self) -> str:
        """File and line, as messages begin: `qa.jsonl, line 3`."""
        return f"{self.file}, {self.at}"


def read_specviz(entry: Entry) -> Conversation:
    """`{"id", "category", "prompt", "max_tokens"}`, all but the prompt optional."""
    return Conversation(
        item_id=_item_id(entry, "id"),
        turns=(_text(entry, entry.data, "prompt"),),
        category=_category(entry),
        max_tokens=_max_tokens(entry, entry.data),
    )


def read_spec_bench(entry: Entry) -> Conversation:
    """`{"question_id", "category", "turns"}` of Spec-Bench (github.com/hemingkx/Spec-Bench), also
    MT-Bench and SPEED-Bench. Every turn is asked; vLLM's bench asks the first only."""
    turns = entry.data.get("turns")
    if not isinstance(turns, list) or not turns:
        raise UsageError(f'{entry.place}: "turns" must be a list of at least one prompt.')
    return Conversation(
        item_id=_item_id(entry, "question_id"),
        turns=tuple(_sound(entry, "turns", turn) for turn in turns),
        category=_category(entry),
        max_tokens=_max_tokens(entry, entry.data),
    )


HUMANS = frozenset({"human", "user"})
ASSISTANTS = frozenset({"gpt", "assistant", "chatgpt", "bing", "bard"})


def read_sharegpt(entry: Entry) -> Conversation:
    """`{"id", "conversations": [{"from", "value"}]}`: the human's messages are the turns.

    The answers in the file are not used, the model gives its own; a system message before the
    first turn is kept. vLLM's bench (`ShareGPTDataset`) reads the same files differently: it asks
    only the first message, from any author, without system message; it takes the length of the
    answer in the file for the longest answer; it leaves out conversations of one message and those
    under 4 or over 1024 prompt tokens; and it repeats prompts where there are too few.
    """
    turns: list[str] = []
    system: list[Message] = []
    for message in _objects(entry, entry.data, "conversations"):
        author, text = message.get("from"), _text(entry, message, "value")
        if author in HUMANS:
            turns.append(text)
        elif author == "system" and not turns:
            system.append(Message("system", text))
        elif author not in ASSISTANTS:
            late = " after the first turn" if author == "system" else ""
            raise UsageError(
                f"{entry.place}: a message from {author!r}{late} cannot be used: only human, gpt "
                "and, at the beginning, system can."
            )
    if not turns:
        raise UsageError(f"{entry.place}: no message is from human: remove the entry.")
    return Conversation(
        item_id=_item_id(entry, "id"),
        turns=tuple(turns),
        category=_category(entry),
        max_tokens=_max_tokens(entry, entry.data),
        earlier=tuple(system),
    )


def read_openai(entry: Entry) -> Conversation:
    """`{"messages"}`, or a line of a batch file (`{"custom_id", "body": {"messages"}}`).

    The last user message is the turn, what is before it `earlier`. An answer after it is not used,
    nor is any parameter but the longest answer: the plan says how prompts are sampled.
    """
    body = entry.data.get("body", entry.data)
    if not isinstance(body, Mapping):
        raise UsageError(f'{entry.place}: "body" must be an object with "messages".')
    messages = [_message(entry, message) for message in _objects(entry, body, "messages")]
    users = [number for number, message in enumerate(messages) if message.role == "user"]
    if not users:
        raise UsageError(f"{entry.place}: no message has the role user: add one.")
    return Conversation(
        item_id=_item_id(entry, "custom_id", "id"),
        turns=(messages[users[-1]].content,),
        category=_category(entry),
        max_tokens=_max_tokens(entry, body, "max_completion_tokens"),
        earlier=tuple(messages[: users[-1]]),
    )


READERS: dict[str, Callable[[Entry], Conversation]] = {
    "specviz": read_specviz,
    "spec-bench": read_spec_bench,
    "sharegpt": read_sharegpt,
    "openai": read_openai,
    "text": read_specviz,  # a line of text is an entry with nothing but its prompt
}
FORMATS = tuple(READERS)
"""specviz, spec-bench, sharegpt, openai (JSONL or a JSON array) and text (a prompt per line)."""

MARKS = {
    "conversations": "sharegpt",
    "turns": "spec-bench",
    "messages": "openai",
    "body": "openai",
    "prompt": "specviz",
}
"""The key that identifies a form, the surest first."""


def form_of(data: Mapping[str, object]) -> str | None:
    """The form that an entry has by its keys, None if by none."""
    return next((form for key, form in MARKS.items() if key in data), None)


def _message(entry: Entry, message: Mapping[str, object]) -> Message:
    role = message.get("role")
    if role not in ("system", "user", "assistant"):
        raise UsageError(
            f"{entry.place}: a message of the role {role!r} cannot be used: only system, user and "
            "assistant can."
        )
    content = message.get("content")
    if not isinstance(content, list):
        return Message(str(role), _sound(entry, "content", content))
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind != "text":
            raise UsageError(
                f"{entry.place}: a message has a part of the type {kind!r}: only text can be used."
            )
    return Message(str(role), "".join(_text(entry, part, "text") for part in content))


def _objects(entry: Entry, data: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    value = data.get(key)
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise UsageError(f'{entry.place}: "{key}" must be a list of messages.')
    return value


def _text(entry: Entry, data: Mapping[str, object], key: str) -> str:
    return _sound(entry, key, data.get(key))


def _sound(entry: Entry, key: str, value: object) -> str:
    """The value as a text that can be sent."""
    if not isinstance(value, str):
        found = "missing" if value is None else type(value).__name__
        raise UsageError(f'{entry.place}: "{key}" must be text, it is {found}.')
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f'{entry.place}: "{key}" has half of a surrogate pair, which no server can read: '
            "write the character out."
        ) from error
    return value


def _item_id(entry: Entry, *keys: str) -> str:
    for key in keys:
        value = entry.data.get(key)
        if isinstance(value, str) and value.strip():
            return _sound(entry, key, value)
        if isinstance(value, int):
            return str(value)
    return entry.name


def _category(entry: Entry) -> str | None:
    value = entry.data.get("category")
    return None if value is None else _sound(entry, "category", value)


def _max_tokens(entry: Entry, data: Mapping[str, object], *others: str) -> int | None:
    for key in ("max_tokens", *others):
        value = data.get(key)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f'{entry.place}: "{key}" must be a number from 1, not {value!r}.')
        return value
    return None
