"""Figures of a suite, for `benchmarks/started/fault_suite.py`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def keep(name: str, **figures: Any) -> None:
    """Add figures to the file that a benchmark asked for."""
    if file := os.environ.get("SPECVIZ_FIGURES"):
        path = Path(file)
        found = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**found, name: figures}))
