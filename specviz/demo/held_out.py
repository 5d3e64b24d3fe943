"""The held-out prompts as files: `data/prompts/{category}.jsonl`."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from specviz.demo.corpus import CATEGORIES, Document, held_out_documents

PROMPTS_PER_CATEGORY = 40
SPLIT_SEED = 7
# Further held-out exchanges, for what is tuned to be evaluated later on the prompts.
TUNING_SEED, TUNING_PER_CATEGORY = 8, 12
# Room for the longest answers of a category in tokens of the demo tokenizer.
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


def prompt_lines(category: str) -> list[str]:
    """The prompt file of `category`, line by line."""
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
        for number, document in enumerate(evaluation_documents(category), start=1)
    ]


def write_prompts(folder: Path) -> None:
    """Write the six prompt files."""
    folder.mkdir(parents=True, exist_ok=True)
    for category in CATEGORIES:
        text = "\n".join(prompt_lines(category)) + "\n"
        (folder / f"{category}.jsonl").write_text(text, encoding="utf-8")
