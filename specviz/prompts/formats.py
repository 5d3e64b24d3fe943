"""The formats of prompt files: one entry of each format as a conversation.

Knows neither files nor sets: an `Entry` has its file and line for messages.
"""

from __future__ import annotations

import json
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
ASSISTANTS = frozenset({"gpt", "assistant", "chatgpt", "bing", "bard", "model"})


def read_sharegpt(entry: Entry) -> Conversation:
    """`{"id", "conversations": [{"from", "value"}]}`: the human's messages are the turns.

    Rows for SGLang's bench, SpecForge and Speculators say `role` and `content`, or one of each. The
    answers in the file are not used, the model gives its own; a system message before the first
    turn, or beside the conversation, is kept. vLLM's bench (`ShareGPTDataset`) reads the same files
    differently: it asks only the first message, from any author, without system message; it takes
    the length of the answer in the file for the longest answer; it leaves out conversations of one
    message and those under 4 or over 1024 prompt tokens; and it repeats prompts where there are too
    few.
    """
    turns: list[str] = []
    system: list[Message] = []
    if entry.data.get("system"):
        system.append(Message("system", _text(entry, entry.data, "system")))
    for message in _objects(entry, entry.data, "conversations"):
        author = str(message.get("from", message.get("role")))
        if author in ASSISTANTS:
            continue
        text = _text(entry, message, "content" if "content" in message else "value")
        if author in HUMANS:
            turns.append(text)
        elif author == "system" and not turns:
            system.append(Message("system", text))
        else:
            late = " after the first turn" if author == "system" else ""
            raise UsageError(
                f"{entry.place}: a message from {author!r}{late} cannot be used: only human, gpt "
                "and, at the beginning, system can."
            )
    if not turns:
        raise UsageError(f"{entry.place}: no message is from human.")
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
    nor is any parameter but the longest answer: the plan says how prompts are sampled. A developer
    message is a system message, which every chat template knows. A tool call is the text that
    Hermes's and Qwen's templates make of it.
    """
    body = entry.data.get("body", entry.data)
    if not isinstance(body, Mapping):
        raise UsageError(f'{entry.place}: "body" must be an object with "messages".')
    messages = _objects(entry, body, "messages")
    users = [number for number, message in enumerate(messages) if message.get("role") == "user"]
    if not users:
        raise UsageError(f"{entry.place}: no message has the role user.")
    *earlier, turn = (_message(entry, message) for message in messages[: users[-1] + 1])
    return Conversation(
        item_id=_item_id(entry, "custom_id", "id"),
        turns=(turn.content,),
        category=_category(entry),
        max_tokens=_max_tokens(entry, body, "max_completion_tokens"),
        earlier=tuple(earlier),
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


ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""OpenAI's roles, and those that they are asked with."""

TEXTS = ("text", "input_text", "output_text")
"""Parts of a message that are text, in Chat Completions and in Responses."""


def form_of(data: Mapping[str, object]) -> str | None:
    """The form that an entry has by its keys, None if by none."""
    return next((form for key, form in MARKS.items() if key in data), None)


def _message(entry: Entry, message: Mapping[str, object]) -> Message:
    role = ROLES.get(str(message.get("role")))
    if role is None:
        raise UsageError(
            f"{entry.place}: a message of the role {message.get('role')!r} cannot be used: only "
            f"{', '.join(ROLES)} can."
        )
    found = message.get("tool_calls")
    calls = found if isinstance(found, list) else []
    content = message.get("content")
    said = "" if content is None and calls else _content(entry, content)
    return Message(role, "\n".join(filter(None, (said, *(_call(entry, call) for call in calls)))))


def _content(entry: Entry, content: object) -> str:
    if not isinstance(content, list):
        return _sound(entry, "content", content)
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in TEXTS:
            raise UsageError(
                f"{entry.place}: a message has a part of the type {kind!r}: only text can be used."
            )
    return "".join(_text(entry, part, "text") for part in content)


def _call(entry: Entry, call: object) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise UsageError(f"{entry.place}: a tool call names no function.")
    name = json.dumps(_text(entry, function, "name"), ensure_ascii=False)
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return _sound(
        entry,
        "arguments",
        f'<tool_call>\n{{"name": {name}, "arguments": {arguments or "{}"}}}\n</tool_call>',
    )


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
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 1:
            raise UsageError(f'{entry.place}: "{key}" must be a number from 1, not {value!r}.')
        if value % 1:
            raise UsageError(f'{entry.place}: "{key}" must be a whole number, not {value!r}.')
        return int(value)
    return None
