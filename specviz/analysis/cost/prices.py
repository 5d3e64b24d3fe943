"""The shipped list prices of GPUs: editable defaults, each with its source and date."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from specviz.paths import DATA

PRICES = DATA / "prices.csv"
OWN_MACHINE = "this machine or another"


@dataclass(frozen=True, slots=True)
class GpuPrice:
    """One offer of one GPU. `usd_per_gpu_hour` is None where no list price is known.

    `gpus`: how many one rents at once. `source` names the list and `read_on` its day; `note` says
    why there is no price, or what the price is of.
    """

    gpu: str
    offer: str
    gpus: int
    usd_per_gpu_hour: float | None
    source: str
    read_on: str
    note: str

    @property
    def title(self) -> str:
        """`A100 80GB SXM · AWS p4de.24xlarge`."""
        return f"{self.gpu} · {self.offer}" if self.offer else self.gpu


@cache
def gpu_prices() -> tuple[GpuPrice, ...]:
    """All offers, the documents' first."""
    with PRICES.open(encoding="utf-8", newline="") as file:
        return tuple(
            GpuPrice(
                gpu=row["gpu"],
                offer=row["offer"],
                gpus=int(row["gpus"]),
                usd_per_gpu_hour=float(price) if (price := row["usd_per_gpu_hour"]) else None,
                source=row["source"],
                read_on=row["read_on"],
                note=row["note"],
            )
            for row in csv.DictReader(file)
        )
