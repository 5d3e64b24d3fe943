"""A load that changed, in the HTML file: one table per traffic, a line per phase and arm."""

from __future__ import annotations

from specviz.analysis.benchmark.phases.lines import COLUMNS, WORDS, phase_line, phases_by_traffic
from specviz.report.content import Json
from specviz.report.markup import table, text


def phases_part(results: Json) -> str:
    """Empty for a benchmark whose loads are steady."""
    parts = []
    for name, phases in phases_by_traffic(results).items():
        lines = [phase_line(one, results, intervals=True) for one in phases]
        passes = max(one["passes"] for one in phases)
        parts.append(
            f"<h3>{text(name)}, by phase, {passes} passes</h3>{table(COLUMNS, lines, names=2)}"
        )
    return "".join(parts) + (f'<p class="muted">{text(WORDS)}</p>' if parts else "")
