"""Phases of a load that changed as tables in a terminal, from the document that `--json` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from specviz.analysis.benchmark.phases.figures import Gain
from specviz.analysis.text import digits
from specviz.methods import Method

Document = Mapping[str, Any]

FIGURES = {
    "goodput 1/s": "request_goodput",
    "TPOT ms": "tpot_ms",
    "TTFT ms": "ttft_ms",
    "accepted": "draft_acceptance_rate",
    "tok/s": "output_throughput",
}
GAINS = {"goodput gain": "request_goodput", "TPOT gain": "tpot_ms"}


def phase_tables(results: Document) -> Iterator[Table]:
    """One table per traffic, all temperatures together, gains over plain decoding.

    Only gains have their intervals: with all of them no line fits a terminal.
    """
    found = [one for one in results["phases"] if one["temperature"] is None]
    baselines = {
        arm["arm_index"] for arm in results["arms"] if arm["method"] == Method.BASELINE.value
    }
    for traffic in dict.fromkeys(one["traffic"] for one in found):
        mine = [one for one in found if one["traffic"] == traffic]
        passes = max(one["passes"] for one in mine)
        title = f"{traffic}, by phase; intervals over {passes} passes"
        table = Table(
            title=title, title_justify="left", header_style="dim", box=None, pad_edge=False
        )
        for name in ("phase", "arm"):
            table.add_column(name, no_wrap=True)
        for name in (*FIGURES, *GAINS):
            table.add_column(name, justify="right", no_wrap=True)
        for one in mine:
            table.add_row(Text(_phase(one)), Text(one["arm"]), *_figures(one, baselines))
        yield table


def _phase(one: Document) -> str:
    return "all" if one["phase"] is None else f"{one['phase'] + 1} · {one['load']}"


def _figures(one: Document, baselines: set[int]) -> Iterator[str]:
    for name in FIGURES.values():
        yield (digits(one[name]["value"]) if one[name] else None) or "–"
    versus: Document = next(
        (other for other in one["compared"] if other["against"] in baselines), {}
    )
    for name in GAINS.values():
        yield Gain(**versus[name]).text if versus.get(name) else "–"
