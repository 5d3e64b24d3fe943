"""The JSON documents of a file."""

from __future__ import annotations

import json
import re
from typing import Any

from specviz.errors import UsageError

_SPACE = re.compile(r"\s*")


def documents_in(content: bytes) -> list[Any]:
    """One after another: vLLM appends results to a file, others write a document per line.

    Raises UsageError for anything but JSON in UTF-8.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("The file is not UTF-8.") from error
    decoder, documents = json.JSONDecoder(), []
    place = _after_space(text, 0)
    try:
        while place < len(text):
            document, place = decoder.raw_decode(text, place)
            place = _after_space(text, place)
            documents.append(document)
    except (ValueError, RecursionError) as error:
        raise UsageError("The file is not JSON.") from error
    return documents


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place
