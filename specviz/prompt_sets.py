"""Where a benchmark's prompts come from: the shipped ones or a file in a known form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specviz.config import Message


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
class PromptSource:
    """Which prompts, as a plan says it.

    `file` None: the shipped prompts. `format`: see `FORMATS`. `count` None takes all; `weights`
    by category say how `count` is shared out; `seed` draws them.
    """

    file: str | None = None
    format: str | None = None
    count: int | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    seed: int = 20
