"""How the pages write texts and names."""

from __future__ import annotations

from specviz.bench.progress import BenchPhase
from specviz.config import RunStatus

CATEGORY_NAMES = {
    "short_qa": "Short answers",
    "summarization": "Summaries",
    "code_generation": "Code",
    "creative_writing": "Stories",
    "translation": "Translation",
    "structured_output": "JSON and YAML",
}

_MARKDOWN = "\\`*_{}[]()#+-.!|<>~$:&"


def escaped(text: str) -> str:
    """Markdown that shows text of models, users, servers and files exactly as written."""
    return "".join(f"\\{sign}" if sign in _MARKDOWN else sign for sign in text)


def status_name(status: RunStatus | BenchPhase) -> str:
    """`running`, `finished`, `partly finished` …"""
    return "partly finished" if status.value == RunStatus.PARTIAL.value else status.value
