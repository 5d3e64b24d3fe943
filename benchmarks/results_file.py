"""The result file of a benchmark: its figures, and what is needed to measure them again.

Every file has `date` (UTC), `git_revision`, `hardware`, `cpu_features`, `command` and `prompts`
(null where a benchmark uses none); the rest belongs to the benchmark. The documentation is written
from these files (`benchmarks.tables`).
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specviz.machine import git_revision, hardware_summary
from specviz.paths import PROJECT_ROOT

RESULTS = PROJECT_ROOT / "benchmarks" / "results"
METADATA = ("date", "git_revision", "hardware", "command", "prompts")

FEATURES = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""Of a processor, by Linux's names: what bfloat16 costs depends on them."""


def add_save_option(parser: ArgumentParser, name: str) -> None:
    """`--save`, or `--save FILE` for another place than `benchmarks/results/NAME.json`."""
    path = RESULTS / f"{name}.json"
    shown = path.relative_to(PROJECT_ROOT)
    parser.add_argument(
        "--save", nargs="?", type=Path, const=path, metavar="FILE", help=f"write FILE ({shown})"
    )


def save(path: Path, figures: Mapping[str, object], *, prompts: int | None = None) -> None:
    """Write `figures` with the machine, the revision and the command of this process."""
    about = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "git_revision": git_revision(),
        "hardware": hardware_summary(),
        "cpu_features": cpu_features(),
        "command": command(sys.argv),
        "prompts": prompts,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**about, **figures}, indent=1) + "\n", encoding="utf-8")


def load(name: str) -> dict[str, Any] | None:
    """The figures of `benchmarks/results/NAME.json`; None if they have not been measured."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def command(arguments: list[str]) -> str:
    """`python -m benchmarks.NAME …`, from `sys.argv` of a benchmark run by itself or by `make`."""
    file = Path(arguments[0])
    name = file.parent.name if file.name == "__main__.py" else file.stem
    return " ".join([f"python -m benchmarks.{name}", *arguments[1:]])


def cpu_features() -> list[str]:
    """Those of `FEATURES` that the processor has; empty where Linux does not list them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return []
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    return [name for name in FEATURES if name in flags]
