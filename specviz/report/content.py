"""What an HTML file shows, read from the store, and what it leaves out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.analysis.step_time.step_time import StepTime, mean_step
from specviz.analysis.text import shortened
from specviz.bench.results import ResultsOf, document, work_out
from specviz.config import Prompt, Run
from specviz.engines.replay import events_of
from specviz.errors import SpecvizError
from specviz.live.job import ArmLog, Phase
from specviz.store import RequestRow, Store
from specviz.store.benchmarks.reads import read_benchmark
from specviz.store.exchange.exported_tables import BY_NAME
from specviz.store.exchange.exporting import selected
from specviz.store.exchange.selection import Selection, rows
from specviz.store.runs.runs import read_requests, read_run, read_trace
from specviz.store.runs.step_totals import read_step_totals
from specviz.strip.messages import arm_message, batch, figures_of, hello, verdict_of

REPLAY_CHARACTERS = 24_000_000
"""Of all replays together; a browser opens a file of this size at once."""

REQUESTS_SHOWN = 200
"""Of one run, in its table and as replays."""

ARMS_SIDE_BY_SIDE = 4

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One run: its row of `runs`, its requests, the first of `num_requests`, and the mean step of
    those, None where their steps are not known."""

    run: Run
    row: Json
    requests: tuple[RequestRow, ...]
    num_requests: int
    step_time: StepTime | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """What the strip replays: the same request of arms that were started together.

    `messages` are those of the WebSocket, as JSON.
    """

    title: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """`benchmarks` are what `specviz bench --json` prints, `results` rows of `elsewhere`."""

    ids: dict[str, list[str]]
    runs: tuple[ShownRun, ...]
    replays: tuple[Replay, ...]
    benchmarks: tuple[Json, ...]
    results: tuple[Json, ...]
    left_out: tuple[str, ...]


def gather(store: Store, ids: Sequence[str], results_of: ResultsOf = work_out) -> Content:
    """`results_of` gives the results of a benchmark. Raises UsageError for ids that cannot be
    exported, StoreError.
    """
    selection, run_rows, results = store.read(_selected_rows, ids)
    of_benchmarks = [row for row in run_rows if row["group_id"] in selection.benchmarks]
    shown = [_shown(store, row) for row in run_rows if row not in of_benchmarks]
    left_out: list[str] = []
    if of_benchmarks:
        left_out.append(
            "The single requests of benchmarks are not in this file: export them as Parquet."
        )
    left_out += [
        f"Of run {one.run.run_id} the first {REQUESTS_SHOWN} of {one.num_requests:,} requests are "
        "in this file."
        for one in shown
        if one.num_requests > len(one.requests)
    ]
    replays, dropped = _bounded(_replays(store, shown))
    if dropped:
        left_out.append(
            f"{dropped:,} replays are not in this file, because they would take more than "
            f"{REPLAY_CHARACTERS / 1e6:.0f} MB: export them as JSONL."
        )
    benchmarks = tuple(_benchmark(store, one, results_of) for one in selection.benchmarks)
    named = {"runs": list(selection.runs), "benchmarks": list(selection.benchmarks),
             "elsewhere": list(selection.tool_results)}  # fmt: skip
    return Content(named, tuple(shown), tuple(replays), benchmarks, tuple(results), tuple(left_out))


def _selected_rows(
    cursor: DuckDBPyConnection, ids: Sequence[str]
) -> tuple[Selection, list[Json], list[Json]]:
    """What is exported, with its rows of `runs` and of `elsewhere`."""
    found = selected(cursor, ids)
    tables = [
        rows(cursor, table, found, f"ORDER BY started_at, {table.key[0]}").read_all()
        for table in (BY_NAME["runs"], BY_NAME["elsewhere"])
    ]
    return found, tables[0].to_pylist(), tables[1].to_pylist()


def _benchmark(store: Store, benchmark_id: str, results_of: ResultsOf) -> Json:
    """Its document; without results, and why, where they cannot be computed."""
    try:
        return document(store, benchmark_id, results_of)
    except (SpecvizError, ValueError, KeyError, ArithmeticError) as error:
        row = store.read(read_benchmark, benchmark_id)
        return {
            "benchmark_id": benchmark_id,
            "name": row.name,
            "status": row.status.value,
            "error": row.error or f"Its results cannot be computed: {error}",
            "requests": {"planned": row.planned, "finished": row.finished},
            "hardware": row.hardware,
            "plan": row.plan_toml,
            "results": None,
        }


def _shown(store: Store, row: Json) -> ShownRun:
    run = store.read(read_run, row["run_id"])
    requests = store.read(read_requests, run.run_id)
    totals = store.read(read_step_totals, run.run_id, REQUESTS_SHOWN)
    shown = tuple(requests[:REQUESTS_SHOWN])
    return ShownRun(run, row, shown, len(requests), mean_step(totals.values()))


def _replays(store: Store, shown: Sequence[ShownRun]) -> Iterator[Replay]:
    """Request by request of each group of runs."""
    groups: dict[str, list[ShownRun]] = {}
    for one in shown:
        groups.setdefault(one.run.group_id, []).append(one)
    for members in groups.values():
        for start in range(0, len(members), ARMS_SIDE_BY_SIDE):
            side_by_side = members[start : start + ARMS_SIDE_BY_SIDE]
            for place in range(max(len(one.requests) for one in side_by_side)):
                yield from _replay(store, side_by_side, place)


def _replay(store: Store, shown: Sequence[ShownRun], place: int) -> Iterator[Replay]:
    arms, prompt = [], None
    for one in shown:
        request = one.requests[place] if place < len(one.requests) else None
        if request is not None and request.fidelity is not None:
            arms.append(_arm(store, one.run, request))
            prompt = prompt or request.prompt
    if prompt is not None and any(len(arm.events) > 2 for arm in arms):
        names = " / ".join(arm.config.title for arm in arms)
        yield Replay(f"{place + 1}. {_start(prompt)} ({names})", _messages(prompt, arms))


def _arm(store: Store, run: Run, request: RequestRow) -> ArmLog:
    arm = ArmLog(run.run_id, run.config)
    for event in events_of(store.read(read_trace, request.request_id)):
        arm.append(event)
    arm.phase, arm.note = Phase(request.status.value), request.error
    return arm


def _messages(prompt: Prompt, arms: Sequence[ArmLog]) -> tuple[str, ...]:
    events = [arm_message(arm, 0, arm.encoded, figures_of(arm, arms)) for arm in arms]
    return (
        json.dumps(hello("replay", prompt, arms)),
        batch(events, verdict_of(arms)),
        '{"type": "end"}',
    )


def _bounded(replays: Iterator[Replay]) -> tuple[list[Replay], int]:
    """As many replays as the file may hold, and how many more there are."""
    kept: list[Replay] = []
    left = REPLAY_CHARACTERS
    dropped = 0
    for replay in replays:
        size = sum(map(len, replay.messages))
        if dropped or size > left:
            dropped += 1
            continue
        kept.append(replay)
        left -= size
    return kept, dropped


def _start(prompt: Prompt) -> str:
    return shortened(" ".join(prompt.text.split()), 60)
