"""The held-out prompts as files: `data/prompts/{category}.jsonl`, and `more/` for benchmarks."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from specviz.training.corpus import CATEGORIES, Document, held_out_documents

PROMPTS_PER_CATEGORY = 40
SPLIT_SEED = 7
# More held-out exchanges, to tune on what is later evaluated on the prompts.
TUNING_SEED, TUNING_PER_CATEGORY = 8, 12
# What a benchmark of 500 prompts needs beyond them: 150 questions, 100 summaries, 80 programs, 50
# stories, 70 translations and 50 records in all.
FURTHER_PROMPTS = {
    "short_qa": 110,
    "summarization": 60,
    "code_generation": 40,
    "creative_writing": 10,
    "translation": 30,
    "structured_output": 10,
}
# Enough for the longest answers of a category, in tokens of the demo tokenizer.
MAX_TOKENS = {
    "short_qa": 96,
    "summarization": 160,
    "code_generation": 256,
    "creative_writing": 256,
    "translation": 128,
    "structured_output": 256,
}


def evaluation_documents(category: str) -> list[Document]:
    """The held-out exchanges behind the prompt file of `category`."""
    return list(islice(held_out_documents(category, SPLIT_SEED), PROMPTS_PER_CATEGORY))


def tuning_documents(category: str) -> list[Document]:
    """Held-out exchanges of `category` that are not evaluated on."""
    evaluated = {document.prompt for document in evaluation_documents(category)}
    others = held_out_documents(category, TUNING_SEED)
    fresh = (document for document in others if document.prompt not in evaluated)
    return list(islice(fresh, TUNING_PER_CATEGORY))


def further_documents(category: str) -> list[Document]:
    """Held-out exchanges of `category` that are neither evaluated nor tuned on."""
    known = {d.content for d in (*evaluation_documents(category), *tuning_documents(category))}
    fresh: dict[str, Document] = {}
    for document in held_out_documents(category, SPLIT_SEED):
        if len(fresh) == FURTHER_PROMPTS[category]:
            break
        if document.content not in known:
            fresh.setdefault(document.content, document)
    return list(fresh.values())


def prompt_lines(category: str) -> list[str]:
    """The prompt file of `category`, line by line."""
    return _lines(category, evaluation_documents(category), 1)


def further_prompt_lines(category: str) -> list[str]:
    """The file of `category` in `more/`, which continues where the prompt file ends."""
    return _lines(category, further_documents(category), PROMPTS_PER_CATEGORY + 1)


def write_prompts(folder: Path) -> None:
    """Write the six prompt files and the six in `more/`."""
    for place, lines in ((folder, prompt_lines), (folder / "more", further_prompt_lines)):
        place.mkdir(parents=True, exist_ok=True)
        for category in CATEGORIES:
            text = "\n".join(lines(category)) + "\n"
            (place / f"{category}.jsonl").write_text(text, encoding="utf-8")


def _lines(category: str, documents: list[Document], first: int) -> list[str]:
    return [
        json.dumps(
            {
                "id": f"{category}-{number:03}",
                "category": category,
                "prompt": document.prompt,
                "max_tokens": MAX_TOKENS[category],
            },
            ensure_ascii=False,
        )
        for number, document in enumerate(documents, start=first)
    ]
