"""Names and texts as SQL is written."""

from __future__ import annotations


def identifier(name: str) -> str:
    """The name of a column or table."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def literal(text: str) -> str:
    """A text."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
