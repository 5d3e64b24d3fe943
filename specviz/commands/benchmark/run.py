"""A plan measured with its progress, then tables for people or JSON for programs."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from specviz import runtime
from specviz.analysis.text import digits, duration
from specviz.bench.board import BenchBoard
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.toml import read_plan
from specviz.bench.progress import Progress
from specviz.bench.results import document
from specviz.commands.benchmark.tables import print_results
from specviz.config import RunStatus
from specviz.errors import UsageError
from specviz.paths import PLANS
from specviz.remote.benchmarks import RemoteBoard
from specviz.store import Location, StoreBusy

REFRESH_S = 0.5
PLAIN_EVERY_S = 15.0
"""How often a progress line is printed where there is no terminal."""


def run_bench(
    plan_file: Path | None, db: Location | None, resume: str | None, *, as_json: bool
) -> int:
    """Measure a plan, or what is missing of one; print the results. Returns the exit code.

    A running app that owns the store measures it, and is followed from here. Raises UsageError
    for a plan that cannot be read or run, StoreError if the store is in use by something else.
    """
    if plan_file is None and resume is None:
        raise UsageError(f"Name a plan: a TOML file, or one of {', '.join(shipped_plans())}.")
    plan = None if resume or plan_file is None else read_plan(plan_path(plan_file))
    notes = Console(stderr=True, highlight=False)
    try:
        with runtime.opened(db) as current:
            benchmark_id = _measured(current.benchmarks, plan, resume, notes)
            found = document(current.store, benchmark_id) | _end(current.benchmarks, benchmark_id)
    except StoreBusy as busy:
        if busy.url is None:
            raise
        notes.print(Text(f"The app at {busy.url} owns the database and runs the plan."))
        board = RemoteBoard(busy.url, busy.secret)
        benchmark_id = _measured(board, plan, resume, notes)
        found = board.document(benchmark_id) | _end(board, benchmark_id)
    print(json.dumps(found, ensure_ascii=False, indent=2)) if as_json else print_results(found)
    finished = found["status"] == RunStatus.FINISHED
    if not finished:
        reason = found["error"] or found["status"]
        notes.print(Text(f"{reason} (specviz bench --resume {benchmark_id})"), soft_wrap=True)
    return 0 if finished else 1


def _measured(
    board: BenchBoard | RemoteBoard, plan: Plan | None, resume: str | None, notes: Console
) -> str:
    if resume is not None:
        board.resume(resume)
        benchmark_id = resume
    else:
        assert plan is not None
        benchmark_id = board.start(plan)
        if (progress := board.progress(benchmark_id)) is not None and progress.skipped:
            notes.print(Text(progress.skipped), soft_wrap=True)
    with _interrupt_cancels(board, benchmark_id):
        _follow(board, benchmark_id, notes)
    return benchmark_id


def _end(board: BenchBoard | RemoteBoard, benchmark_id: str) -> dict[str, str | None]:
    """How it ended, also where a full disk kept that from being stored."""
    progress = board.progress(benchmark_id)
    if progress is None or not progress.phase.is_final:
        return {}
    return {"status": progress.phase.value, "error": progress.error}


def plan_path(given: Path) -> Path:
    """A file, or a shipped plan by its name. Raises UsageError for neither."""
    shipped = PLANS / f"{given.name.removesuffix('.toml')}.toml"
    if given.exists():
        return given
    if shipped.exists():
        return shipped
    raise UsageError(
        f"There is no plan {given}: name a TOML file, or one of {', '.join(shipped_plans())}."
    )


def shipped_plans() -> list[str]:
    return sorted(path.stem for path in PLANS.glob("*.toml"))


@contextmanager
def _interrupt_cancels(board: BenchBoard | RemoteBoard, benchmark_id: str) -> Iterator[None]:
    """The first Ctrl-C ends the benchmark and keeps what has finished; the second ends us."""

    def cancel(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        board.cancel(benchmark_id)

    before = signal.signal(signal.SIGINT, cancel)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _follow(board: BenchBoard | RemoteBoard, benchmark_id: str, notes: Console) -> None:
    if not notes.is_terminal:
        _follow_in_lines(board, benchmark_id, notes)
        return
    with Live(console=notes, refresh_per_second=4, transient=True) as live:
        while not board.wait(benchmark_id, REFRESH_S):
            if (progress := board.progress(benchmark_id)) is not None:
                live.update(_shown(progress))


def _follow_in_lines(board: BenchBoard | RemoteBoard, benchmark_id: str, notes: Console) -> None:
    printed, printed_at = "", float("-inf")
    while not board.wait(benchmark_id, REFRESH_S):
        progress = board.progress(benchmark_id)
        line = _line(progress) if progress else ""
        if line != printed and time.monotonic() - printed_at >= PLAIN_EVERY_S:
            printed, printed_at = line, time.monotonic()
            notes.print(Text(line), soft_wrap=True)


def _line(progress: Progress) -> str:
    parts = [f"{progress.done} of {progress.planned} requests"]
    if progress.left_s is not None:
        parts.append(f"{duration(progress.left_s)} left")
    parts.append(progress.doing or progress.phase.value)
    return " · ".join(parts)


def _shown(progress: Progress) -> Group:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("arm", "", "requests", "TPOT ms", "tok/s", "acceptance"):
        table.add_column(name, justify="left" if name in ("arm", "") else "right")
    for arm in progress.arms:
        note = f"{arm.phase}: {arm.note}" if arm.note else arm.phase
        done = f"{arm.done}/{arm.planned}"
        figures = (arm.tpot_ms, arm.output_throughput, arm.draft_acceptance_rate)
        table.add_row(Text(arm.arm), Text(note[:60]), done, *(digits(f) or "–" for f in figures))
    bar = ProgressBar(total=max(1, progress.planned), completed=progress.done, width=40)
    return Group(Text(f"{progress.name}: {_line(progress)}"), bar, table)
