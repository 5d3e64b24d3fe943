"""From the store to the results of a benchmark: the same for pages, terminal and JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specviz.analysis.benchmark.disturbance import in_figures
from specviz.analysis.benchmark.phases.shape import Shape
from specviz.analysis.benchmark.results import ArmState, Results
from specviz.analysis.benchmark.summary import at_steady_loads, summarise
from specviz.bench.arm import arm_row
from specviz.bench.load.traffic import Traffic
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.schedule import asked, planned_requests, stages
from specviz.bench.plan.toml import parse_plan
from specviz.engines.embedded.options import dtype_of
from specviz.methods import Method
from specviz.prompts.sets import Conversation
from specviz.store import ArmRow, Store
from specviz.store.benchmarks.reads import (
    read_arms,
    read_benchmark,
    read_conversations,
    read_rounds,
    read_samples,
)
from specviz.store.benchmarks.rows import BenchmarkRow

if TYPE_CHECKING:
    import pandas as pd

ResultsOf = Callable[[Store, BenchmarkRow], Results]
"""Works out the results of a benchmark, or has them already. Raises StoreError."""


def results_of(store: Store, benchmark_id: str) -> Results:
    """What the benchmark says so far. Raises StoreError if there is none."""
    return work_out(store, store.read(read_benchmark, benchmark_id))


def work_out(store: Store, row: BenchmarkRow) -> Results:
    """`results_of` a benchmark whose row is at hand. Raises StoreError."""
    samples = store.read(read_samples, row.benchmark_id)
    rounds = store.read(read_rounds, row.benchmark_id)
    plan = parse_plan(row.plan_toml)
    shapes = _shapes(plan, row, store.read(read_conversations, row.benchmark_id))
    arms = arms_of(store, row.benchmark_id, samples)
    return summarise(arms, samples, rounds, plan.slo, shapes)


def arms_of(store: Store, benchmark_id: str, samples: pd.DataFrame) -> list[ArmState]:
    """The arms as they are so far; `samples` are all of the benchmark's. Raises StoreError."""
    row = store.read(read_benchmark, benchmark_id)
    plan = parse_plan(row.plan_toml)
    conversations = store.read(read_conversations, benchmark_id)
    opened = store.read(read_arms, benchmark_id)
    planned = planned_requests(plan, row.servers_at_once, conversations)
    finished = samples[samples["status"] == "finished"].groupby("arm_index").size()
    arms = [
        ArmState(
            arm=name,
            arm_index=index,
            engine=arm.engine,
            method=arm.method or "as the server says",
            k=arm.k,
            model=arm.model,
            draft=arm.draft,
            server=arm.server_version or arm.server_url,
            prefix_caching=_caching(arm.prefix_caching),
            start_s=arm.start_s,
            finished=int(finished.get(index, 0)),
            planned=planned[index],
            error=arm.error,
            baseline=None,
        )
        for index, (name, arm) in enumerate(zip(plan.arm_names, _arms(plan, opened), strict=True))
    ]
    return with_baselines(plan, arms)


def _shapes(
    plan: Plan, row: BenchmarkRow, conversations: Sequence[Conversation]
) -> tuple[Shape, ...]:
    """The plan's traffic: its phases, and how many requests each pass has."""
    requests: dict[str, dict[str, int]] = {traffic.name: {} for traffic in plan.traffic}
    for stage in stages(plan, row.servers_at_once):
        if isinstance(stage.load, Traffic):
            each = sum(len(conversations[i].turns) for i, _ in asked(plan, stage, conversations))
            rounds = (stage.round_id(row.benchmark_id, arm) for arm in stage.arms)
            requests[stage.load.name] |= dict.fromkeys(rounds, each)
    return tuple(Shape(one.name, one.phase_titles, requests[one.name]) for one in plan.traffic)


def document(store: Store, benchmark_id: str, results: ResultsOf = work_out) -> dict[str, Any]:
    """What `specviz bench --json` prints; its keys are a public format. Raises StoreError."""
    row = store.read(read_benchmark, benchmark_id)
    return {
        "benchmark_id": row.benchmark_id,
        "name": row.name,
        "status": row.status.value,
        "error": row.error,
        "requests": {"planned": row.planned, "finished": row.finished},
        "hardware": row.hardware,
        "plan": row.plan_toml,
        "results": results(store, row).to_dict(),
    }


def samples_of(store: Store, benchmark_id: str) -> pd.DataFrame:
    """One row per request in the figures; see `analysis.benchmark.summary`. Raises StoreError."""
    return at_steady_loads(in_figures(store.read(read_samples, benchmark_id)))


def with_baselines(plan: Plan, arms: Sequence[ArmState]) -> list[ArmState]:
    """Each arm with the baseline it is compared with: plain decoding of the same model, on the
    same engine and with the same dtype."""

    dtypes = _dtypes(plan, arms)

    def kind(arm: ArmState) -> tuple[str, str | None, str]:
        return arm.engine, arm.model, dtypes[arm.arm_index]

    baselines = {
        kind(arm): arm.arm_index for arm in reversed(arms) if arm.method == Method.BASELINE
    }
    return [replace(arm, baseline=baselines.get(kind(arm))) for arm in arms]


def _dtypes(plan: Plan, arms: Sequence[ArmState]) -> list[str]:
    """Each arm's dtype by index. `auto` is what it was for the arms that have opened."""
    asked = [arm.config.options.get("dtype", "auto") for arm in plan.arms]
    ran = (dtype_of(arm.server) for arm in arms if asked[arm.arm_index] == "auto")
    auto = next(filter(None, ran), "auto")
    return [auto if dtype == "auto" else dtype for dtype in asked]


def _caching(caches: bool | None) -> str | None:
    """A server that caches got requests that miss its cache; see `servers.timing.timed_server`."""
    return None if caches is None else ("salted" if caches else "off")


def _arms(plan: Plan, opened: dict[int, ArmRow]) -> list[ArmRow]:
    """The arms as they opened; of those that never did, what the plan says."""
    return [
        opened.get(index) or arm_row(index, name, arm.config)
        for index, (name, arm) in enumerate(zip(plan.arm_names, plan.arms, strict=True))
    ]
