"""A table of K in words: its columns, its rows, and what a cell rests on."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.analysis.k.predict import Estimate
from specviz.analysis.policy.decision import Decision
from specviz.analysis.policy.objective import Objective
from specviz.analysis.policy.table import PolicyTable
from specviz.analysis.text import counted
from specviz.policy.policy import Basis


def column_titles(loads: Sequence[int]) -> list[str]:
    """`1 request`, `2–4 requests`, `5 or more`: the last column is also for more than it says."""
    firsts = [1, *(load + 1 for load in loads)]
    titles = [
        counted(last, "request") if first == last == 1 else _span(first, last)
        for first, last in zip(firsts, loads[:-1], strict=False)
    ]
    return [*titles, f"{firsts[len(loads) - 1]} or more"]


def row_titles(temperatures: Sequence[float | None]) -> list[str]:
    """`temperature 0`, `up to 0.7`, `above 0.7`."""
    titles = []
    for place, temperature in enumerate(temperatures):
        if temperature is not None:
            titles.append("temperature 0" if temperature == 0 else f"up to {temperature:g}")
        elif place:
            titles.append(f"above {temperatures[place - 1]:g}")
        else:
            titles.append("every request")
    return titles


def objective_text(objective: Objective) -> str:
    """`goodput at TPOT up to 20 ms`, or `output throughput`."""
    slo = objective.slo
    names = {"TTFT": slo.ttft_ms, "TPOT": slo.tpot_ms, "end to end": slo.e2el_ms}
    limits = [f"{name} up to {limit:g} ms" for name, limit in names.items() if limit is not None]
    return f"goodput at {', '.join(limits)}" if limits else "output throughput"


def estimate_text(figure: Estimate) -> str:
    """`126.6 (121.0 to 132.4)`; the figure alone where there is no interval."""
    digits = 1 if figure.value >= 10 else 2
    if figure.low is None or figure.high is None:
        return f"{figure.value:.{digits}f}"
    ends = f"{max(0.0, figure.low):.{digits}f} to {figure.high:.{digits}f}"
    return f"{figure.value:.{digits}f} ({ends})"


def gain_text(found: Decision, objective: Objective) -> str:
    """`1.88× (1.79× to 1.99×)` of K = 0; empty for K = 0."""
    if found.gain is None:
        return ""
    text = objective.gain_text(found.gain.value)
    if found.gain.low is None or found.gain.high is None:
        return text
    low, high = map(objective.gain_text, (found.gain.low, found.gain.high))
    return f"{text} ({low} to {high})"


def equivalent_text(found: Decision) -> str:
    """`K 6, 8 are as good`; empty where no other K is, or none gives anything."""
    others = [str(k) for k in found.equivalent_ks if k != found.k]
    figure = found.figure(found.k)
    if not others or figure is None or figure.value == 0:
        return ""
    return f"K {', '.join(others)} {'is' if len(others) == 1 else 'are'} as good"


def basis_text(found: Decision) -> str:
    """`measured at concurrency 4 on 24 prompts in 6 blocks`, or where a predicted one is from."""
    if found.basis is Basis.PREDICTED:
        return f"predicted: {found.rests_on}"
    in_blocks = f" in {counted(found.blocks, 'block')}" if found.blocks < found.prompts else ""
    said = f"measured at concurrency {found.concurrency} on {counted(found.prompts, 'prompt')}"
    return f"{said}{in_blocks}" + (f", {found.rests_on}" if found.rests_on else "")


def lines(table: PolicyTable) -> list[str]:
    """The table for a terminal: the Ks, then what each cell rests on."""
    columns = column_titles([one.concurrency for one in table.rows[0]])
    rows = row_titles([row[0].temperature for row in table.rows])
    grid = [["", *columns]] + [
        [title, *(str(one.k) for one in row)] for title, row in zip(rows, table.rows, strict=True)
    ]
    widths = [max(len(line[place]) for line in grid) for place in range(len(grid[0]))]
    found = [f"{table.method}: K by {objective_text(table.objective)}"]
    for line in grid:
        cells = [text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True)]
        found.append("  ".join([line[0].ljust(widths[0]), *cells]))
    found.append("")
    for title, row in zip(rows, table.rows, strict=True):
        if row[0].temperature is None:
            found.append(f"{title}: {basis_text(row[0])}")
            continue
        found += [
            f"{title}, {column}: {cell_text(one, table.objective)}"
            for column, one in zip(columns, row, strict=True)
        ]
    return [*found, *table.notes]


def cell_text(found: Decision, objective: Objective) -> str:
    """`K 5, 126.6 (121.0 to 132.4) tok/s, 1.88× of K = 0; K 6 is as good; measured …`"""
    figure = found.figure(found.k)
    parts = [f"K {found.k}"]
    if figure is not None:
        parts.append(f"{estimate_text(figure)} {objective.unit}")
    if gain := gain_text(found, objective):
        parts.append(f"{gain} {'more than' if objective.slo.is_set else 'of'} K = 0")
    said = ", ".join(parts)
    return "; ".join(part for part in (said, equivalent_text(found), basis_text(found)) if part)


def _span(first: int, last: int) -> str:
    return f"{first}–{last} requests" if first < last else counted(last, "request")
