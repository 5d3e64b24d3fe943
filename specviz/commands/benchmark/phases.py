"""Phases of a load that changed as tables in a terminal, from the document that `--json` prints."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from specviz.analysis.benchmark.phases.lines import (
    COLUMNS,
    Document,
    phase_line,
    phases_by_traffic,
)


def phase_tables(results: Document) -> Iterator[Table]:
    """One table per traffic, gains over plain decoding.

    Only gains have their intervals: with all of them no line fits a terminal.
    """
    for traffic, phases in phases_by_traffic(results).items():
        passes = max(one["passes"] for one in phases)
        title = f"{traffic}, by phase; intervals over {passes} passes"
        table = Table(
            title=title, title_justify="left", header_style="dim", box=None, pad_edge=False
        )
        for name in COLUMNS:
            in_words = name in ("phase", "arm")
            table.add_column(name, justify="left" if in_words else "right", no_wrap=True)
        for one in phases:
            line = phase_line(one, results, intervals=False)
            table.add_row(*(Text(cell or "–") for cell in line))
        yield table
