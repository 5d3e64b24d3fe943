"""The shipped list prices of GPUs: editable defaults, each with its source and date."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache

from specviz.paths import DATA

PRICES = DATA / "prices.csv"
OWN_MACHINE = "this machine or another"

DRIVER_NAMES = {
    "NVIDIA A100-SXM4-80GB": "A100 80GB SXM",
    "NVIDIA A100 80GB PCIe": "A100 80GB PCIe",
    "NVIDIA A100-SXM4-40GB": "A100 40GB SXM",
    "NVIDIA H100 80GB HBM3": "H100 80GB SXM",
    "NVIDIA H100 NVL": "H100 94GB NVL",
    "NVIDIA H200": "H200 141GB SXM",
    "NVIDIA B200": "B200 180GB SXM",
    "NVIDIA L4": "L4 24GB",
    "NVIDIA L40S": "L40S 48GB",
    "NVIDIA A10G": "A10G 24GB",
}
"""GPUs of the list by the names that NVIDIA's driver gives them."""

_GPUS = re.compile(r"(\d+) × (NVIDIA [^,(]+) \(\d+ GiB\)")
"""GPUs in a line of `machine.hardware_summary`."""


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

    @property
    def cited(self) -> str:
        """`A100 80GB SXM · AWS p4de.24xlarge, read 2026-11-09`."""
        return f"{self.title}, read {self.read_on}" if self.read_on else self.title


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


def list_price(hardware: str | None) -> tuple[GpuPrice, int] | None:
    """The first listed offer with a price of the GPUs in a line of `machine.hardware_summary`, and
    how many there are. None without a GPU, with several kinds, or without a price: the processors
    of a machine have no list price here."""
    found = _GPUS.findall(hardware or "")
    if len(found) != 1:
        return None
    count, name = found[0]
    offers = (one for one in gpu_prices() if one.gpu == DRIVER_NAMES.get(name))
    priced = next((one for one in offers if one.usd_per_gpu_hour is not None), None)
    return None if priced is None else (priced, int(count))
