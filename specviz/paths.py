"""Where the project keeps the files that it ships and writes."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parent.parent
DATA = PROJECT_ROOT / "data"
DRAFTS = DATA / "drafts"
PROMPTS = DATA / "prompts"
PLANS = DATA / "plans"
LOGS = PROJECT_ROOT / "logs"


def cache_folder(kind: str) -> Path:
    """The folder of files of one kind that can be made again; it may not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "specviz" / kind
