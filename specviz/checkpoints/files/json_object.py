"""A JSON object of a checkpoint, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specviz.errors import UsageError

LARGEST = 100_000_000
"""Bytes; the largest tokenizers in use take about a third of it."""


def read_json(path: Path) -> dict[str, Any]:
    """The object in `path`. Raises UsageError where it is missing, too large or no JSON object."""
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path} is larger than {LARGEST:,} bytes: restore the model's own.")
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(
            f"{path.parent} has no {path.name}: copy the whole folder, or name the one that has it."
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as JSON ({error}): copy it again.") from error
    if not isinstance(data, dict):
        raise UsageError(f"{path} is not a JSON object: copy it again.")
    return data
