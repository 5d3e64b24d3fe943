"""Results as tables: sensible digits for the page, everything in full for a file. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from specviz.analysis.benchmark.results import ArmState, Cell, CounterCheck, Quantiles, Results
from specviz.analysis.text import digits, size_text
from specviz.store.benchmarks.rows import BenchmarkRow

Column = Callable[[Cell], str | None]

NAMED = 3
"""Arms that a note names before it counts the rest."""

QUANTILES = ("ttft_ms", "tpot_ms", "step_ms", "e2el_ms", "queue_ms")


def measured(cells: Sequence[Cell], columns: Mapping[str, Column]) -> pd.DataFrame:
    """One line per cell, its figures as text of three significant digits."""
    lines = [{name: column(cell) for name, column in columns.items()} for cell in cells]
    return pd.DataFrame(lines, columns=list(columns))


def in_full(cells: Sequence[Cell]) -> pd.DataFrame:
    """One line per cell with all its figures, units in the names, for a file."""
    return pd.DataFrame([_flat(cell) for cell in cells])


def results_json(row: BenchmarkRow, results: Results) -> str:
    """One JSON document: the benchmark, its plan, everything it says."""
    document = {
        "benchmark": {
            "id": row.benchmark_id,
            "name": row.name,
            "status": row.status.value,
            "started_at": row.started_at.isoformat(),
            "finished_at": row.finished_at and row.finished_at.isoformat(),
            "hardware": row.hardware,
            "git_revision": row.git_revision,
            "specviz_version": row.specviz_version,
            "plan_toml": row.plan_toml,
        },
        "results": results.to_dict(),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def notes(cells: Sequence[Cell]) -> list[str]:
    """Every note once, with the arms and categories that it is about."""
    about: dict[str, list[Cell]] = {}
    for cell in cells:
        for note in dict.fromkeys(cell.notes):
            about.setdefault(note, []).append(cell)
    return [
        note if 1 < len(cells) == len(noted) else f"{_listed(_places(noted, cells))}: {note}"
        for note, noted in about.items()
    ]


def checks_table(checks: Sequence[CounterCheck]) -> pd.DataFrame:
    """Counts of requests next to the server's, and by how much they differ."""
    return pd.DataFrame(
        {
            "arm": check.arm,
            "drafts": f"{check.num_drafts:,}",
            "drafts, server": f"{check.server_drafts:,}",
            "draft tokens": f"{check.num_draft_tokens:,}",
            "draft tokens, server": f"{check.server_draft_tokens:,}",
            "accepted": f"{check.num_accepted_tokens:,}",
            "accepted, server": f"{check.server_accepted_tokens:,}",
            "verdict": verdict(check),
            "rounds without a count": check.rounds_without,
        }
        for check in checks
    )


def verdict(check: CounterCheck) -> str:
    """`agree`, or by how much they differ."""
    if check.agrees:
        return "agree"
    differences = {
        "drafts": check.server_drafts - check.num_drafts,
        "draft tokens": check.server_draft_tokens - check.num_draft_tokens,
        "accepted": check.server_accepted_tokens - check.num_accepted_tokens,
    }
    parts = [f"{name} by {by:+,}" for name, by in differences.items() if by]
    return "differ: " + ", ".join(parts)


def arms_table(arms: Sequence[ArmState]) -> pd.DataFrame:
    """How each arm was run, and its progress."""
    return pd.DataFrame(
        {
            "arm": arm.arm,
            "engine": arm.engine,
            "model": _short(arm.model),
            "draft": _short(arm.draft),
            "server": arm.server,
            "prefix caching": arm.prefix_caching,
            "start s": digits(arm.start_s),
            "requests": f"{arm.finished:,} of {arm.planned:,}",
            "error": arm.error,
        }
        for arm in arms
    )


def _short(model: str | None) -> str | None:
    """A folder's name without its path; names of a hub stay whole."""
    return Path(model).name if model and model.startswith("/") else model


def speedup_text(cell: Cell) -> str | None:
    """`1.67× (1.48 to 1.84)`; without an interval where there are too few prompts."""
    return None if cell.speedup is None else cell.speedup.with_verdict


def quantile(name: str, which: str) -> Column:
    """A column of one quantile, such as P95 of `tpot_ms`."""

    def column(cell: Cell) -> str | None:
        quantiles: Quantiles | None = getattr(cell, name)
        return None if quantiles is None else digits(getattr(quantiles, which))

    return column


def figure(name: str) -> Column:
    """A column of one plain figure."""
    return lambda cell: digits(getattr(cell, name))


def acceptance(name: str) -> Column:
    """A column of one acceptance figure."""

    def column(cell: Cell) -> str | None:
        return None if cell.acceptance is None else digits(getattr(cell.acceptance, name))

    return column


def memory_words(cells: Sequence[Cell]) -> str:
    """What the column `memory` is of: a server's figure is not the app's engine's."""
    sources: dict[str, list[str]] = {}
    for cell in cells:
        if cell.memory_source is not None and cell.engine not in sources.get(
            cell.memory_source, []
        ):
            sources.setdefault(cell.memory_source, []).append(cell.engine)
    parts = [f"{source} ({', '.join(engines)})" for source, engines in sources.items()]
    return f" memory: {'; '.join(parts)}." if parts else ""


def memory_text(cell: Cell) -> str | None:
    return None if cell.memory_bytes is None else size_text(cell.memory_bytes)


def size_of(cell: Cell) -> str:
    """`36`, `36 × 3 runs`, `36, 1 failed`: prompts, repetitions, failures."""
    runs, rest = divmod(cell.requests, cell.prompts or 1)
    asked = f"{cell.prompts:,}"
    if rest:
        asked += f", {cell.requests:,} requests"
    elif runs > 1:
        asked += f" × {runs:,} runs"
    return asked + (f", {cell.failed:,} failed" if cell.failed else "")


ARM: dict[str, Column] = {"arm": lambda cell: cell.arm}
ACCEPTANCE: dict[str, Column] = {
    "acceptance rate": acceptance("draft_acceptance_rate"),
    "tok/step": acceptance("mean_acceptance_length"),
}
SPEED: dict[str, Column] = {
    "TPOT P50 ms": quantile("tpot_ms", "p50"),
    "TPOT P95 ms": quantile("tpot_ms", "p95"),
    "E2E speed-up (95 %)": speedup_text,
}
SIZE: dict[str, Column] = {"prompts": size_of}


_WHERE: dict[str, Callable[[Cell], str]] = {
    "category": lambda cell: cell.category or "no category",
    "temperature": lambda cell: f"temperature {cell.temperature:g}",
    "load": lambda cell: cell.load,
}
"""What distinguishes the cells of an arm."""


def _places(noted: Sequence[Cell], cells: Sequence[Cell]) -> list[str]:
    """The subjects of a note: whole arms or categories where possible, else single cells."""
    arms, arms_noted = (Counter(cell.arm for cell in some) for some in (cells, noted))
    every, every_noted = (Counter(cell.category for cell in some) for some in (cells, noted))
    varies = {name: len({getattr(cell, name) for cell in cells}) > 1 for name in _WHERE}

    def name(cell: Cell) -> str:
        if cell.category and 1 < every[cell.category] == every_noted[cell.category]:
            return cell.category
        if arms[cell.arm] == arms_noted[cell.arm]:
            return cell.arm
        where = [title(cell) for name, title in _WHERE.items() if varies[name]]
        return ", ".join([cell.arm, *where])

    return list(dict.fromkeys(map(name, noted)))


def _listed(names: Sequence[str]) -> str:
    """The first ones, and how many more."""
    shown = "; ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"


def _flat(cell: Cell) -> dict[str, Any]:
    line: dict[str, Any] = {
        name: getattr(cell, name)
        for name in (
            *("arm", "method", "k", "engine", "draft", "category", "temperature", "concurrency"),
            *("request_rate", "prompts", "requests", "failed", "output_tokens"),
        )
    }
    if cell.disturbance is not None:
        line |= {name: getattr(cell.disturbance, name) for name in ("blocks", "disturbed")}
    for name in QUANTILES:
        quantiles = getattr(cell, name)
        for which in ("mean", "p50", "p90", "p95", "p99"):
            line[f"{name.removesuffix('_ms')}_{which}_ms"] = quantiles and getattr(quantiles, which)
    for name in ("draft_ms", "overlapped_draft_ms", "verify_ms", "other_ms"):
        line[f"step_{name}"] = cell.step_time and getattr(cell.step_time, name)
    line["plain_tpot_ms"] = cell.plain_tpot_ms
    for name in ("output_throughput", "request_throughput", "request_goodput"):
        line[name] = getattr(cell, name)
    for name in (
        *("draft_acceptance_rate", "draft_acceptance_rate_request_mean"),
        *("mean_acceptance_length", "mean_acceptance_length_request_mean", "alpha"),
        *("num_drafts", "num_draft_tokens", "num_accepted_tokens"),
    ):
        line[name] = cell.acceptance and getattr(cell.acceptance, name)
    for name in ("ratio", "low", "high", "prompts", "excluded", "basis"):
        line[f"speedup_{name}"] = cell.speedup and getattr(cell.speedup, name)
    line |= {"memory_bytes": cell.memory_bytes, "memory_source": cell.memory_source}
    line |= {"gpu_utilization": cell.gpu_utilization, "notes": "; ".join(cell.notes)}
    return line
