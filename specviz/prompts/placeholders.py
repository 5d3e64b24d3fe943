"""Placeholders in prompt files: empty prompts, template slots, fillers, notes.

They give misleading measurements: repeated and random tokens are drafted unlike language, and a
hundred copies of one note are one prompt. Only whole prompts are judged: code with braces, or a
question about placeholders, is a real prompt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# A word twice may be meant ("Knock knock."), three times it fills a line.
FEWEST_REPEATS = 3
LONGEST_NOTE = 200
# What may surround a word or a note.
EDGES = " ()[]<>{}.,:;!?*#\"'`-–—…"

_NOUN = r"(?:prompt|question|text|instruction|input|content|message|query|turn)s?"
_WHOSE = r"(?:(?:a|an|the|your|user|actual|real|sample|example|test|dummy)\s+)"
_NAMED = rf"{_WHOSE}*{_NOUN}(?:\s*#?\d+)?"  # your prompt, question 3
_DO = r"(?:insert|enter|add|paste|put|type|write|fill in|replace(?: this)?(?: with| by)?)"
_HERE = rf"(?:{_DO}\s+)?{_NAMED}\s+(?:(?:goes|comes|go)\s+)?here"  # insert your prompt here
_MARK = r"todo|tbd|tba|fixme|xxx+|null|none|nan|n/a|undefined|placeholder"
_TASK = rf"(?:todo|tbd|fixme)\W+{_DO}\s+{_NAMED}(?:\s+(?:here|later))?"  # TODO: add a prompt
_SLOT_WORDS = r"insert|enter|add|paste|put|your|user|todo|tbd|placeholder|prompt|question|text"

FILLERS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"[$#]?\{[\w .-]*\}|%\(\w+\)s",  # {question}, ${prompt}, {}, %(text)s
        r"\{\{[^{}]*\}\}|\{%[^{}]*%\}",  # {{ question }}
        r"<\|?[\w .:-]+\|?>",  # <prompt>, <|user|>
        rf"\[(?:{_SLOT_WORDS})\b[^\[\]]*\]",  # [INSERT PROMPT HERE]
        # Rows of SPEED-Bench (huggingface.co/datasets/nvidia/SPEED-Bench) whose text may not be
        # passed on say "... FROM THE SOURCE USING SPECDEC_BENCH".
        r"full benchmark data should be fetched from the source\b.{0,80}",
    )
)
WORDS = re.compile(rf"(?:{_MARK}|(?:{_MARK})?\s*{_NAMED}|{_HERE}|{_TASK})", re.IGNORECASE)

LOREM_IPSUM = frozenset(
    "lorem ipsum dolor sit amet consectetur adipiscing adipisicing elit sed do eiusmod tempor "
    "incididunt ut labore et dolore magna aliqua enim ad minim veniam quis nostrud exercitation "
    "ullamco laboris nisi aliquip ex ea commodo consequat duis aute irure in reprehenderit "
    "voluptate velit esse cillum eu fugiat nulla pariatur excepteur sint occaecat cupidatat non "
    "proident sunt culpa qui officia deserunt mollit anim id est laborum".split()
)


def is_placeholder(prompt: str) -> bool:
    """Whether the whole prompt is empty, a slot of a template, a filler or a note about itself."""
    text = prompt.strip()
    if all(unicodedata.category(character)[0] in "PZC" for character in text):
        return True  # nothing, or punctuation only
    words = [word for part in text.casefold().split() if (word := part.strip(EDGES))]
    return (
        _repeats(words)
        or _repeats("".join(text.split()))
        or {"lorem", "ipsum"} <= set(words) <= LOREM_IPSUM
        or any(filler.fullmatch(text) for filler in FILLERS)
        or (len(text) <= LONGEST_NOTE and WORDS.fullmatch(_bare(text)) is not None)
    )


def _repeats(parts: Sequence[str]) -> bool:
    return len(parts) >= FEWEST_REPEATS and all(part == parts[0] for part in parts)


def _bare(text: str) -> str:
    """The text without brackets, quotes and stops around it, one space between words."""
    return " ".join(text.replace("_", " ").split()).strip(EDGES)
