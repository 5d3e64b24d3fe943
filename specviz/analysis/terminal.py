"""Text of models, files and errors on its way to a terminal or into a sentence."""

from __future__ import annotations

from specviz.analysis.visible import visible_text


def terminal_text(text: str) -> str:
    """One line; control characters, escapes and invisible marks are signs, spaces stay spaces."""
    return " ".join(visible_text(word) for word in text.split(" "))
