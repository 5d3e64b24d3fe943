"""A small file in every form, and the message for a refused file."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.errors import UsageError
from specviz.prompts.files import read_conversations

SPECVIZ = """\
{"id": "short_qa-001", "category": "short_qa", "prompt": "Name a river.", "max_tokens": 96}
{"prompt": "Translate {\\"a\\": 1} into YAML"}
"""
SPEC_BENCH = """\
{"question_id": 81, "category": "writing", "turns": ["Write a travel post about Hawaii.", "Rewrite\
 it with every sentence starting with A."]}

{"question_id": 241, "category": "translation", "turns": ["Übersetze: Guten Tag"], "reference": []}
"""
SHAREGPT = """\
[
  {"id": "QWJhYvA_0", "conversations": [
    {"from": "human", "value": "Summarize the main ideas of this book."},
    {"from": "gpt", "value": "Here they are: ..."},
    {"from": "human", "value": "And in one sentence?"},
    {"from": "gpt", "value": "..."}]},
  {"id": "i6IyJda_0", "conversations": [
    {"from": "system", "value": "Be brief."},
    {"from": "gpt", "value": "Go on."},
    {"from": "user", "value": "How do I sort a list?"}]}
]
"""
OPENAI = """\
{"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi there"}, \
{"role": "assistant", "content": "Hello!"}, {"role": "user", "content": [{"type": "text", "text": \
"Tell a "}, {"type": "text", "text": "joke."}]}, {"role": "assistant", "content": "No."}]}
"""
BATCH = """\
{"custom_id": "request-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", \
"messages": [{"role": "user", "content": "Hello world!"}], "max_tokens": 1000}}
"""
TEXT = "Why is the sky blue?\n\n  What is a placeholder in HTML?  \r\nEin Satz mit Ümläut.\n"
EXAMPLES = {
    "specviz": SPECVIZ,
    "spec-bench": SPEC_BENCH,
    "sharegpt": SHAREGPT,
    "openai": OPENAI,
    "text": TEXT,
}


def written(folder: Path, text: str, name: str = "prompts.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def refusal(path: Path, form: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        read_conversations(path, form)
    message = str(caught.value)
    assert message.startswith(str(path)) and message.endswith(".") and "\n" not in message
    return message.removeprefix(str(path))
