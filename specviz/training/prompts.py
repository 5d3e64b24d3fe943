"""The prompts that a draft is trained on, and those that are held out to measure it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from specviz.config import Prompt
from specviz.errors import UsageError
from specviz.prompts.files import read_prompt_file

HELD_OUT_OF = 20
"""One prompt in so many is held out."""


@dataclass(frozen=True, slots=True)
class Split:
    """Prompts in the order of their hashes, which is random and always the same."""

    trained: tuple[Prompt, ...]
    held_out: tuple[Prompt, ...]


def read_prompts(files: Sequence[Path], note: Callable[[str], None] | None = None) -> Split:
    """The prompts of `files`, each once; of a conversation with several turns the first.

    A prompt's hash decides whether it is held out, so it is or is not in every file and run. `note`
    gets a sentence about entries that are skipped.

    Raises UsageError for a file that cannot be read, and for too few prompts to hold any out.
    """
    asked: dict[str, Prompt] = {}
    for file in files:
        found = read_prompt_file(file)
        if found.skipped and note is not None:
            note(found.skipped)
        for one in found.conversations:
            prompt = Prompt(one.turns[0], earlier=one.earlier)
            key = _key(prompt)
            asked[key] = Prompt(one.turns[0], key, one.category, earlier=one.earlier)
    ordered = [asked[key] for key in sorted(asked)]
    held_out = tuple(prompt for prompt in ordered if _is_held_out(prompt))
    trained = tuple(prompt for prompt in ordered if not _is_held_out(prompt))
    if not held_out or not trained:
        raise UsageError(
            f"{len(ordered)} prompts are too few to train on most and to measure on the others, "
            f"one in {HELD_OUT_OF}: give some hundreds or more with --prompts."
        )
    return Split(trained, held_out)


def _key(prompt: Prompt) -> str:
    text = json.dumps(prompt.messages, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _is_held_out(prompt: Prompt) -> bool:
    assert prompt.prompt_id is not None
    return int(prompt.prompt_id[-6:], 16) % HELD_OUT_OF == 0
