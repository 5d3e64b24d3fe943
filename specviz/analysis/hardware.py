"""What GPUs can do by their makers' data sheets: `data/hardware.csv`, each row with its source.

Peak compute is dense, without sparsity. What no source was found for is blank.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from specviz.errors import UsageError
from specviz.paths import DATA

HARDWARE = DATA / "hardware.csv"


class Precision(StrEnum):
    """Of weights and of the arithmetic."""

    BF16 = "bf16"
    FP8 = "fp8"
    INT8 = "int8"

    @property
    def bytes(self) -> int:
        """Bytes per parameter."""
        return 2 if self is Precision.BF16 else 1


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: memory in GB, bandwidth in GB/s, peak compute in TFLOPS by precision."""

    name: str
    memory_gb: float
    bandwidth_gb_s: float
    peak_tflops: dict[Precision, float]
    source: str
    date: str
    note: str


@cache
def gpus() -> dict[str, Gpu]:
    """Every GPU of the table by its name, in its order."""
    with HARDWARE.open(encoding="utf-8", newline="") as file:
        return {row["name"]: _gpu(row) for row in csv.DictReader(file)}


def gpu(name: str) -> Gpu:
    """Raises UsageError for a name that is not in the table."""
    if name not in gpus():
        raise UsageError(f"There is no GPU {name!r} in the table: use one of {'; '.join(gpus())}.")
    return gpus()[name]


def _gpu(row: dict[str, str]) -> Gpu:
    peaks = {one: row[f"{one}_tflops"] for one in Precision}
    return Gpu(
        name=row["name"],
        memory_gb=float(row["memory_gb"]),
        bandwidth_gb_s=float(row["bandwidth_gb_s"]),
        peak_tflops={one: float(text) for one, text in peaks.items() if text},
        source=row["source"],
        date=row["date"],
        note=row["note"],
    )
