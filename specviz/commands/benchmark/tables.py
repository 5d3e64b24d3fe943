"""The results of a benchmark as tables in a terminal, from the document that `--json` prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.analysis.benchmark.cell_figures import COLUMNS, Document, cell_figures, load_of
from specviz.analysis.benchmark.results import CounterCheck, Speedup
from specviz.commands.benchmark.phases import phase_tables

PIPED_WIDTH = 140
"""Columns where there is no terminal to ask."""

NOTES_SHOWN = 6


def print_results(found: Document) -> None:
    """One table per temperature and load, then the checks and the notes."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPED_WIDTH)
    requests, results = found["requests"], found["results"]
    done = f"{requests['finished']} of {requests['planned']} requests"
    console.print(Text(f"{found['name']} · {done} · {found['hardware'] or ''}"))
    for cell in dict.fromkeys((cell["temperature"], load_of(cell)) for cell in results["cells"]):
        cells = [c for c in results["cells"] if (c["temperature"], load_of(c)) == cell]
        console.print()
        console.print(_table(f"{cell[1]}, temperature {cell[0]:g}", cells))
        for one in cells:
            if one["step_time_text"]:
                console.print(Text(f"{one['arm']}: {one['step_time_text']}"), style="dim")
    for table in phase_tables(results):
        console.print()
        console.print(table)
    console.print()
    for check in results["checks"]:
        console.print(Text(_check(CounterCheck(**check))))
    notes = [*results["notes"], *(note for cell in results["cells"] for note in cell["notes"])]
    distinct = list(dict.fromkeys(notes))
    for note in distinct[:NOTES_SHOWN]:
        console.print(Text(note), style="dim")
    if len(distinct) > NOTES_SHOWN:
        rest = f"{len(distinct) - NOTES_SHOWN} further notes with their arms: --json"
        console.print(Text(rest), style="dim")
    console.print(Text(f"benchmark {found['benchmark_id']}"), style="dim")


def speedup_text(speedup: Document | None) -> str:
    """`1.87× (1.66 to 2.05)`, without the interval where there are too few prompts."""
    return "–" if speedup is None else Speedup(**speedup).text


def verdict_text(speedup: Document | None) -> str:
    """`faster`, `slower`, or what would decide it."""
    return "–" if speedup is None else Speedup(**speedup).verdict_text


def _table(title: str, cells: Sequence[Document]) -> Table:
    table = Table(title=title, title_justify="left", header_style="dim", box=None, pad_edge=False)
    table.add_column("arm", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=name.startswith("speed"))
    table.add_column("verdict")
    disturbed = [_disturbed(cell) for cell in cells]
    if any(disturbed):
        table.add_column("disturbed", justify="right")
    for cell, text in zip(cells, disturbed, strict=True):
        shown = (figure or "–" for figure in cell_figures(cell))
        speedup = cell["speedup"]
        last = [text or "–"] if any(disturbed) else []
        table.add_row(
            Text(cell["arm"]), *shown, speedup_text(speedup), verdict_text(speedup), *last
        )
    return table


def _disturbed(cell: Document) -> str | None:
    """How many blocks were measured while something else used the machine."""
    found = cell["disturbance"]
    if not found or not found["disturbed"]:
        return None
    return f"{found['disturbed']} of {found['blocks']} blocks"


def _check(check: CounterCheck) -> str:
    accepted, drafted = check.num_accepted_tokens, check.num_draft_tokens
    counted = f"{check.arm}: {accepted:,} of {drafted:,} draft tokens accepted, "
    if check.agrees:
        return counted + "as /metrics of the server counted"
    server = f"{check.server_accepted_tokens:,} of {check.server_draft_tokens:,}"
    return counted + f"but /metrics counted {server}: other traffic?"
