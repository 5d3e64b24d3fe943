"""The tables of docs/policy.md."""

from __future__ import annotations

from benchmarks.policy_cost import FOLLOWED, ratios
from benchmarks.routing import ARMS
from benchmarks.tables.markdown import Figures, markdown, number, spread, with_source
from specviz.analysis.benchmark.phases.figures import PhaseFigures
from specviz.analysis.benchmark.phases.lines import Document, gain_over, phases_by_traffic

POLICY = ARMS.index("policy")
OTHERS = [index for index, _ in enumerate(ARMS) if index != POLICY]


def policy_cost(figures: Figures) -> str:
    rows = []
    for row in figures["rows"]:
        rounds, step = row["ms_per_token"], row["step"]
        found = [
            spread(ratios(row, arm)) if arm in rounds[0] else "–"
            for arm in ("all at 0", "half at 0", FOLLOWED)
        ]
        times = "–"
        if step is not None:
            times = f"{step['draft_ms']:.2f} + {step['verify_ms']:.2f} of {step['wall_ms']:.2f}"
        plain = spread([one["plain"] for one in rounds])
        rows.append([str(row["batch"]), plain, *found[:2], times, found[2]])
    head = ["requests", "plain, ms/token (range)", "all at 0, ratio (range)"]
    head += ["half at 0, ratio (range)", "then draft + verify, ms per step"]
    head += ["all at K, ratio to a server without a policy (range)"]
    return with_source(figures, markdown(head, rows))


def ramp_policy(figures: Figures) -> str:
    """The K of the policy that was made from the sweep, and vLLM's schedule from the same."""
    policy = figures["policy"]
    rows = [
        ["any other" if row["temperature"] is None else f"up to {row['temperature']:g}"]
        + [
            f"{k}{'' if basis == 'measured' else f' ({basis})'}"
            for k, basis in zip(row["k"], row["basis"], strict=True)
        ]
        for row in policy["rows"]
    ]
    head = [f"K up to {load} at once" for load in policy["requests_running"]]
    ranges = figures["schedule"]["num_speculative_tokens_per_batch_size"]
    schedule = ", ".join(f"{k} for {first} to {end}" for first, end, k in ranges)
    sentence = f"vLLM's schedule is its first row: K = {schedule} requests, the last one for more."
    return "\n\n".join([markdown(["temperature", *head], rows), sentence])


def ramp(figures: Figures) -> str:
    """Goodput of the four arms and the policy's gain over the others, by phase and as a whole."""
    (phases,) = phases_by_traffic(figures).values()
    arms_in: dict[str, list[Document]] = {}
    for one in phases:
        arms_in.setdefault(PhaseFigures(**one).title, []).append(one)
    rows = [
        [
            title,
            *(number(arm["request_goodput"]["value"]) for arm in arms),
            *(gain_over(arms[POLICY], {other}, "request_goodput") or "–" for other in OTHERS),
        ]
        for title, arms in arms_in.items()
    ]
    head = ["phase", f"{ARMS[0]}, req/s", *ARMS[1:]]
    head += [f"policy over {ARMS[other]} (95 %)" for other in OTHERS]
    return with_source(figures, markdown(head, rows))
