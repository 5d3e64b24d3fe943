"""A benchmark's size and progress in words. Pure."""

from __future__ import annotations

from specviz.analysis.text import counted, duration
from specviz.bench.load.traffic import Traffic
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.schedule import stages
from specviz.bench.progress import BenchPhase, Progress
from specviz.views.shared.text import status_name

ONE_AT_A_TIME = "A benchmark is running: only one at a time, or they would slow each other down."


def plan_summary(plan: Plan, prompts: int, turns: int, servers_at_once: int) -> str:
    """How many requests the plan is: `6 arms × 2 loads × … = 576 requests; 3 servers …`.

    `turns`: user turns of all prompts, each of them a request. `servers_at_once`: what does not
    fit side by side is measured in groups, each with the baseline.
    """
    parts = [_steady(plan, prompts, turns, servers_at_once)] if plan.loads else []
    parts += [_traffic(plan, one) for one in plan.traffic]
    return f"{'; '.join(parts)}; {_servers(plan)}"


def _steady(plan: Plan, prompts: int, turns: int, servers_at_once: int) -> str:
    cells_of = [
        sum(not isinstance(load, Traffic) for _, load in plan.cells(arm)) for arm in plan.arms
    ]
    cells = sum(cells_of)
    if cells == len(plan.arms) * len(plan.loads) * len(plan.temperatures):
        factors = [
            counted(len(plan.arms), "arm"),
            counted(len(plan.loads), "load"),
            counted(len(plan.temperatures), "temperature"),
        ]
    else:
        factors = [
            f"{counted(len(plan.arms), 'arm')} at {min(cells_of)} to {max(cells_of)} loads and "
            f"temperatures ({cells} in all)"
        ]
    asked = counted(prompts, "prompt")
    if turns > prompts:
        asked += f" with {counted(turns, 'turn')}"
    factors += [asked, counted(plan.repetitions, "run")]
    requests = cells * turns * plan.repetitions
    rounds = sum(
        len(stage.arms)
        for stage in stages(plan, servers_at_once)
        if not isinstance(stage.load, Traffic)
    )
    text = f"{' × '.join(factors)} = {counted(requests, 'request')}"
    if more := rounds * turns - requests:
        text += f", and {more:,} of the baseline again with each group of servers"
    return text


def _traffic(plan: Plan, traffic: Traffic) -> str:
    """`4 arms × 5 passes of 1 to 16 and back = 3,680 requests`, where prompts have one turn."""
    arms = sum(any(load == traffic for _, load in plan.cells(arm)) for arm in plan.arms)
    requests = counted(arms * plan.repetitions * traffic.count, "request")
    passes = counted(plan.repetitions, "pass", "passes")
    return f"{counted(arms, 'arm')} × {passes} of {traffic.name} = {requests}"


def progress_line(progress: Progress) -> str:
    """`312 of 576 requests · 1 min 40 s left`."""
    parts = [f"{progress.done:,} of {progress.planned:,} requests"]
    if progress.phase.is_final:
        parts.append(f"{status_name(progress.phase)} after {duration(progress.elapsed_s)}")
    elif progress.phase is BenchPhase.PAUSED:
        parts.append("paused")
    elif progress.left_s is None:
        parts.append("time left: not known before the first requests are measured")
    else:
        parts.append(f"{duration(progress.left_s)} left")
    return " · ".join(parts)


def share_done(done: int, planned: int) -> float:
    """0 to 1; nothing planned is nothing done."""
    return min(1.0, done / planned) if planned else 0.0


def _servers(plan: Plan) -> str:
    started = sum(arm.starts_server for arm in plan.arms)
    if not started:
        return "no server is started"
    return counted(started, "server is started", "servers are started")
