"""What the advisor need not ask, because a stored benchmark or a running server shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx2

from specviz.analysis.advisor.deployment import KnownFacts
from specviz.analysis.advisor.evidence import Evidence, Kind
from specviz.analysis.advisor.inputs import Answer
from specviz.analysis.advisor.measured import measured_of
from specviz.analysis.benchmark.disturbance import disturbed_text
from specviz.analysis.benchmark.results import ArmState, Cell, Results
from specviz.analysis.text import digits
from specviz.errors import MalformedReply, ServerUnreachable
from specviz.methods import Method, record_of
from specviz.servers.client.probe import FoundServer, connecting
from specviz.servers.metrics import ServerLoad
from specviz.servers.pages import read_page
from specviz.store import Store
from specviz.store.benchmarks.reads import read_arms, read_benchmarks, read_samples
from specviz.store.benchmarks.rows import ArmRow, BenchmarkRow

USUAL_K = 5
"""The K at which the documents compare techniques."""

SEARCHED = 20
"""How many of the newest benchmarks are searched for a pair of models."""


def source_of(row: BenchmarkRow) -> str:
    """How a benchmark is named as evidence."""
    return f'benchmark "{row.name}" ({row.benchmark_id[:8]})'


def facts_of_benchmark(
    row: BenchmarkRow, results: Results, temperature: float | None, concurrency: int | None
) -> KnownFacts:
    """Mean answer length, GPU utilisation of plain decoding, whether the drafts fitted, and every
    speed-up; at the given load, or at the next higher one that was measured."""
    source = source_of(row)
    answers: dict[str, Answer] = {}
    sources: dict[str, Evidence] = {}
    notes = []
    plain = _at_or_above(results.cells, temperature, concurrency)
    if plain is not None:
        where = Evidence(Kind.MEASURED, f"{source}, {plain.arm}, {_place(plain)}")
        if plain.output_tokens and plain.requests:
            answers["output_tokens"] = plain.output_tokens / plain.requests
            sources["output_tokens"] = where
        if plain.gpu_utilization is not None:
            answers["gpu_utilization"] = plain.gpu_utilization
            sources["gpu_utilization"] = where
        else:
            notes.append("GPU utilisation was not measured: the server's GPU was not seen.")
    else:
        notes.append("The benchmark has no plain decoding at this load.")
    if fitted := [arm.arm for arm in results.arms if _drafted(arm)]:
        answers["draft_fits"] = True
        text = f"{source}: {', '.join(fitted[:3])} ran on {row.hardware or 'this machine'}"
        sources["draft_fits"] = Evidence(Kind.MEASURED, text)
    if disturbed := disturbed_text(results.cells):
        notes.insert(0, f"{source}: {disturbed}")
    notes.append("A benchmark does not show whether memory is short in production.")
    return KnownFacts(answers, sources, measured_of(results, source), tuple(notes))


async def facts_of_server(url: str) -> tuple[KnownFacts, FoundServer]:
    """Load, answer length and memory pressure as a running server counts them.

    Raises UsageError for something that is not a URL, ServerUnreachable, NotAnOpenAIServer.
    """
    async with connecting(url, None) as (found, http):
        try:
            page = await read_page(http, f"{found.url}{found.dialect.metrics_path}")
        except httpx2.TransportError as error:
            raise ServerUnreachable(
                f"The server at {found.url} stopped answering ({error}): try again."
            ) from error
        await http.aclose()
    try:
        load = found.dialect.load(page.text if page.status == 200 else "")
    except MalformedReply as error:
        facts = facts_of_load(found, ServerLoad())
        return replace(facts, notes=(f"Its load is not known: {error}.", *facts.notes)), found
    return facts_of_load(found, load), found


def facts_of_load(found: FoundServer, load: ServerLoad) -> KnownFacts:
    """What a server's `/metrics` shows; the notes say what they do not."""
    since = f"server {found.url}, since it started"
    answers: dict[str, Answer] = {}
    sources: dict[str, Evidence] = {}
    notes = []

    def add(name: str, value: Answer, text: str) -> None:
        answers[name], sources[name] = value, Evidence(Kind.MEASURED, text)

    if load.running:
        requests = int(load.running + (load.waiting or 0))
        add("concurrency", requests, f"server {found.url}, running and waiting now")
    else:
        notes.append("The server is idle now: its concurrency is not known.")
    if load.mean_output_tokens:
        text = f"{since}, mean of {digits(load.requests)} requests"
        add("output_tokens", load.mean_output_tokens, text)
    if load.preemptions is not None:
        pressed = load.preemptions > 0
        text = f"{since}, {load.preemptions:.0f} requests preempted for want of KV cache"
        add("memory_pressure", pressed, text)
    if found.capabilities.speculates:
        add("draft_fits", True, f"server {found.url} runs with its draft")
    notes.append("A server does not report the utilisation of its GPU.")
    return KnownFacts(answers, sources, notes=tuple(notes))


def acceptance_of_pair(store: Store, target: str, draft: str) -> tuple[float, Evidence] | None:
    """The acceptance rate of a pair in the newest benchmark that served it, over all texts, at the
    lowest temperature, at the K nearest to the documents' usual one. None: no benchmark has it.
    """
    for row in store.read(read_benchmarks, limit=SEARCHED):
        arms = store.read(read_arms, row.benchmark_id).values()
        same = [arm for arm in arms if _same(arm.model, target) and _same(arm.draft, draft)]
        if row.finished and same:
            arm = min(same, key=lambda one: abs((one.k or 0) - USUAL_K))
            return _acceptance(store, row, arm)
    return None


def _acceptance(store: Store, row: BenchmarkRow, arm: ArmRow) -> tuple[float, Evidence] | None:
    samples = store.read(read_samples, row.benchmark_id)
    of_arm = samples[samples["arm_index"] == arm.arm_index]
    coolest = of_arm[of_arm["temperature"] == of_arm["temperature"].min()]
    drafted, accepted = (
        int(coolest[name].sum()) for name in ("num_draft_tokens", "num_accepted_tokens")
    )
    if not drafted:
        return None
    temperature = f"temperature {coolest['temperature'].min():g}"
    return accepted / drafted, Evidence(
        Kind.MEASURED, f"{source_of(row)}, {arm.name}, {temperature}"
    )


def _same(stored: str | None, named: str) -> bool:
    """The same folder or name; the embedded engine stores a folder's name only."""
    if stored is None:
        return False
    folder = Path(named).expanduser()
    if Path(stored).name == stored:
        return stored in (named, folder.name)
    return Path(stored).resolve() == folder.resolve()


def _drafted(arm: ArmState) -> bool:
    record = record_of(arm.method)
    return record is not None and record.needs_draft and arm.finished > 0


def _at_or_above(
    cells: Sequence[Cell], temperature: float | None, concurrency: int | None
) -> Cell | None:
    """Plain decoding at the load, or at the next higher one."""
    found = [
        cell
        for cell in cells
        if cell.method == Method.BASELINE
        and cell.concurrency is not None
        and cell.temperature >= (temperature or 0.0)
        and cell.concurrency >= (concurrency or 1)
    ]
    return min(found, key=lambda cell: (cell.temperature, cell.concurrency or 0), default=None)


def _place(cell: Cell) -> str:
    return f"temperature {cell.temperature:g}, {cell.load}"
