"""The prompts that ship with the project, by category."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from specviz.config import Prompt
from specviz.errors import UsageError
from specviz.paths import PROMPTS

CATEGORIES = (
    "short_qa",
    "summarization",
    "code_generation",
    "creative_writing",
    "translation",
    "structured_output",
)

FIRST_CATEGORY, FIRST_PROMPT = "short_qa", "short_qa-001"
"""The question that is in the box at the first start."""


@cache
def load_prompts(category: str, folder: Path = PROMPTS) -> tuple[Prompt, ...]:
    """All prompts of a category. Raises UsageError for an unknown one or an unreadable file."""
    if category not in CATEGORIES:
        raise UsageError(f"There is no category {category!r}: use one of {', '.join(CATEGORIES)}.")
    path = folder / f"{category}.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return tuple(_prompt(json.loads(line)) for line in lines if line.strip())
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"The prompts in {path} cannot be read ({error}): restore the file from the repository."
        ) from error


def _prompt(data: dict[str, object]) -> Prompt:
    return Prompt(
        text=str(data["prompt"]),
        prompt_id=str(data["id"]),
        category=str(data["category"]),
        max_tokens=int(str(data["max_tokens"])),
    )
