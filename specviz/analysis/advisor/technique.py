"""The documents' techniques: which methods they are, their published figures, their SLO table."""

from __future__ import annotations

import math

from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.evidence import Evidence, Figure, Kind
from specviz.analysis.advisor.rules import SloRow, rows, slo_rows, where
from specviz.methods import METHODS, TECHNIQUES, Method

METHODS_OF_LEAF: dict[str, tuple[Method, ...]] = {
    "untrained": (Method.DRAFT_MODEL, Method.NGRAM),
    "eagle3": (Method.EAGLE3,),
    "medusa": (Method.MEDUSA,),
    "vanilla": (Method.DRAFT_MODEL,),
    "measure_fit": (Method.NGRAM,),
}
"""The methods that a leaf of the documents' tree names, the first one first."""

_UNITS = {
    "e2e_speedup": ("speed-up", "×"),
    "speedup": ("speed-up", "×"),
    "accept_ratio": ("acceptance rate", ""),
    "tpot_p50_ms": ("TPOT P50", "ms"),
    "tpot_p95_ms": ("TPOT P95", "ms"),
    "extra_gpu_memory_gb": ("extra GPU memory", "GB"),
}


def technique_name(method: Method) -> str:
    """`EAGLE-3`; a method that the documents do not have by its own name."""
    return next(iter(METHODS[method].techniques), method.value)


def published_figures(method: Method, deployment: Deployment) -> tuple[Figure, ...]:
    """What the documents measured for a method, elsewhere: in all, and at this deployment's very
    temperature, concurrency and kind of text where their table has that row."""
    wanted = (
        ("overall", None, None),
        ("temperature", "temperature", deployment.temperature),
        ("concurrency", "concurrency", deployment.concurrency),
        ("categories", "category", deployment.text),
    )
    found: list[Figure] = []
    for table, column, value in wanted:
        if column is not None and value is None:
            continue
        for row in rows(table):
            if row["method"] == method.value and (column is None or row[column] == value):
                at = "all prompts, temperature 0, one request" if column is None else (
                    f"{column} {value:g}" if isinstance(value, int | float) else str(value)
                )  # fmt: skip
                source = Evidence(Kind.PUBLISHED, f"{where(row)}: {at}")
                found += _figures(row, source)
    return tuple(found)


def slo_row(deployment: Deployment) -> SloRow | None:
    """The documents' row for the aim. For a TPOT limit the loosest row that keeps it; None where
    there is no aim, no limit, or no row keeps it."""
    if deployment.slo == "tpot":
        limit = deployment.slo_tpot_ms
        kept = [row for row in slo_rows() if limit and row.limit_ms and row.limit_ms <= limit]
        return max(kept, key=lambda row: row.limit_ms or 0.0, default=None)
    word = {"throughput": "throughput", "cost": "cost"}.get(deployment.slo or "")
    return next((row for row in slo_rows() if word and word in row.slo.lower()), None)


def methods_of_slo(row: SloRow) -> tuple[Method, ...]:
    """The methods that a row names: `Vanilla SD or Medusa`."""
    names = row.techniques.split(",")[0].split(" or ")
    return tuple(
        method for name in names for technique, method in TECHNIQUES.items() if _is(name, technique)
    )


def _is(name: str, technique: str) -> bool:
    return name.strip() == technique or technique.startswith(f"{name.strip()}-2")


def _figures(row: dict[str, object], source: Evidence) -> list[Figure]:
    known = [(_UNITS[name], row[name]) for name in _UNITS if name in row]
    return [
        Figure(name, float(value), unit, source)
        for (name, unit), value in known
        if isinstance(value, int | float) and not math.isnan(value)
    ]
