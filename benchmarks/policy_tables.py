"""The tables of docs/policy.md, as `tables.py` writes them."""

from __future__ import annotations

from typing import Any

from benchmarks.markdown import Figures, markdown, number, spread, with_source
from specviz.analysis.benchmark.phases.figures import Gain

OFF, ON, SCHEDULE, POLICY = range(4)
"""The arms of `benchmarks/ramp/plan.toml`."""


def policy_cost(figures: Figures) -> str:
    rows = []
    for row in figures["rows"]:
        rounds, step = row["ms_per_token"], row["step"]
        ratios = [
            spread([one[arm] / one["plain"] for one in rounds]) if arm in rounds[0] else "–"
            for arm in ("all at 0", "half at 0")
        ]
        times = "–"
        if step is not None:
            times = f"{step['draft_ms']:.2f} + {step['verify_ms']:.2f} of {step['wall_ms']:.2f}"
        plain = spread([one["plain"] for one in rounds])
        rows.append([str(row["batch"]), plain, *ratios, times])
    head = ["requests", "plain, ms/token (range)", "all at 0, ratio (range)"]
    head += ["half at 0, ratio (range)", "then draft + verify, ms per step"]
    return with_source(figures, markdown(head, rows))


def ramp_policy(figures: Figures) -> str:
    """The K of the policy that was made from the sweep, and vLLM's schedule from the same."""
    policy = figures["policy"]
    rows = [
        ["any other" if row["temperature"] is None else f"up to {row['temperature']:g}"]
        + [f"{k}{'' if basis == 'measured' else f' ({basis})'}" for k, basis in cells(row)]
        for row in policy["rows"]
    ]
    head = [f"K up to {load} at once" for load in policy["requests_running"]]
    ranges = figures["schedule"]["num_speculative_tokens_per_batch_size"]
    schedule = ", ".join(f"{k} for {first} to {end}" for first, end, k in ranges)
    sentence = f"vLLM's schedule is its first row: K = {schedule} requests, the last one for more."
    return "\n\n".join([markdown(["temperature", *head], rows), sentence])


def cells(row: dict[str, Any]) -> list[tuple[int, str]]:
    return list(zip(row["k"], row["basis"], strict=True))


def ramp(figures: Figures) -> str:
    """Goodput of the four arms and the policy's gain over the others, by phase and as a whole."""
    phases = [one for one in figures["phases"] if one["temperature"] is None]
    places = list(dict.fromkeys((one["phase"], one["load"]) for one in phases))
    rows = []
    for place in places:
        arms = [one for one in phases if (one["phase"], one["load"]) == place]
        phase, load = place
        rows.append(
            [
                "all phases" if phase is None else f"{phase + 1} · {load}",
                *(number(arm["request_goodput"]["value"]) for arm in arms),
                *(gain(arms[POLICY], other) for other in (OFF, ON, SCHEDULE)),
            ]
        )
    head = ["phase", "off, req/s", "on", "schedule", "policy"]
    head += [f"policy over {name} (95 %)" for name in ("off", "on", "schedule")]
    return with_source(figures, markdown(head, rows))


def gain(arm: dict[str, Any], other: int) -> str:
    """`1.12× (1.01 to 1.24)`, above 1 where the arm is better."""
    (found,) = [one for one in arm["compared"] if one["against"] == other]
    return Gain(**found["request_goodput"]).text if found["request_goodput"] else "–"
