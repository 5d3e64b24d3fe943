"""The tables take what the benchmarks save: made figures in the shape of each result file."""

from dataclasses import asdict

import pytest

from benchmarks import first_token, plans, policy_cost, tracing_cost
from benchmarks.client_cost import rounds as client_cost
from benchmarks.side_by_side import figures as side_by_side
from benchmarks.speedup import pairs as speedup
from benchmarks.tables.documents import TABLES
from specviz.analysis.benchmark.phases.figures import Compared, Estimate, Gain, PhaseFigures

ABOUT = {
    "date": "2026-01-02T03:04:05+00:00",
    "git_revision": "0123456789ab",
    "hardware": "2 × CPU",
    "cpu_features": ["avx2", "avx512f"],
    "command": "python -m benchmarks.made",
    "prompts": 7,
}


def first_token_figures():
    starts = [
        first_token.Figures(4.0 + n, 2.0 + n, 2.5, 1.6, 1.5, 1.7, 1.0, 1.2, 600.4) for n in range(3)
    ]
    return {"starts": [asdict(one) for one in starts]}


def tracing_cost_figures():
    slow, fast = (tracing_cost.Measurement(speed, 1000 / speed) for speed in (90.0, 100.0))
    return {"rows": [tracing_cost.row("traced", "idle", 16, slow, fast)] * 2}


def policy_cost_figures():
    step = asdict(policy_cost.Step(draft_ms=2.0, verify_ms=3.0, wall_ms=5.5))
    always, followed = policy_cost.ALWAYS, policy_cost.FOLLOWED
    alone = {"plain": 2.0, "all at 0": 3.0, always: 1.0, followed: 1.1}
    half = {**alone, "half at 0": 5.0}
    rows = [(1, alone, None), (4, half, step)]
    return {"rows": [{"batch": n, "ms_per_token": [ms] * 2, "step": step} for n, ms, step in rows]}


def routing_figures():
    """Four arms with 10 to 13 requests per s, on the whole and in one phase."""
    made = Estimate(10.0, 9.0, 11.0)
    phases = [
        PhaseFigures(
            *(f"arm {arm}", arm, "ramp", phase, load, None, 5, 46, 0, 9.0),
            request_goodput=Estimate(10.0 + arm, 9.0, 11.0),
            **dict.fromkeys(["output_throughput", "ttft_ms", "tpot_ms"], made),
            **dict.fromkeys(["draft_acceptance_rate", "num_draft_tokens"]),
            compared=tuple(
                Compared(other, 5, Gain((10 + arm) / (10 + other), 0.9, 1.4), None, None)
                for other in range(4)
                if other != arm
            ),
        )
        for phase, load in ((None, None), (0, "concurrency 1"))
        for arm in range(4)
    ]
    policy = {
        "requests_running": [1, 16],
        "rows": [
            {"temperature": 0.7, "k": [3, 0], "basis": ["measured", "equivalent"]},
            {"temperature": None, "k": [3, 1], "basis": ["predicted", "predicted"]},
        ],
    }
    schedule = {"num_speculative_tokens_per_batch_size": [[1, 1, 3], [2, 16, 0]]}
    return {
        "policy": policy,
        "schedule": schedule,
        "phases": [asdict(phase) for phase in phases],
    }


def speedup_figures():
    known = speedup.Row("short_qa", 14, 12, 0.638, 3.38, 1.34, 1.14, 1.54)
    unknown = speedup.Row("all", 14, 0, 0.638, 3.38, None, None, None)
    return {"rows": [asdict(known), asdict(unknown)]}


def side_by_side_figures():
    ours = side_by_side.Figures(2.0, 2.0, 50.0, 40.0, 210.0, 128, 60, 40)
    theirs = side_by_side.Figures(2.0, 2.0, 50.0, 50.0, 200.0, 128, 60, 40)
    return {"rounds": [asdict(side_by_side.Round(16, ours, theirs, (60, 40), 0))] * 2}


def client_cost_figures():
    return {"rows": [asdict(client_cost.Row("vllm bench serve", 29_000, 28e3, 30e3, 34.5, [29e3]))]}


def plans_figures():
    row = plans.Row("ngram K 4", "vllm", 0.0, "concurrency 4", 0.3, 1.5, 0.96, 0.86, 1.07)
    return {"plans": {"two-minutes": {"prompts": 18, "rows": [asdict(row)]}}}


def setup_time_figures():
    rounds = [{"install_s": 30.0 + n, "run_s": 5.0, "clone_to_page_s": 35.0 + n} for n in range(3)]
    return {"rounds": rounds, "pip_install_s": None}


def lossless_figures():
    row = {"dtype": "float32", "method": "eagle", "shape": "tree", "equal": 47, "answers": 48}
    return {"k": [1, 3], "rows": [row]}


def page_changes_figures():
    changes = [{"text": 100.0 + n, "chart": None} for n in range(3)]
    return {"ms": {"Technique: an answer": changes}}


@pytest.mark.parametrize(
    ("file", "table", "figures", "line"),
    [
        ("first_token", "first-minute", first_token_figures(), "| memory of the app, MiB | 600 (6"),
        ("first_token", "first-minute", first_token_figures(), "| 5.0 (4.0 to 6.0) |"),
        ("tracing_cost", "ratios", tracing_cost_figures(), "| traced / idle | 16 | 0.90 (0.90 to"),
        ("policy_cost", "zero", policy_cost_figures(), "| 1.50 (1.50 to 1.50) | – | – | 1.10 ("),
        (
            "policy_cost",
            "zero",
            policy_cost_figures(),
            "| 2.50 (2.50 to 2.50) | 2.00 + 3.00 of 5.50 |",
        ),
        ("routing", "policy", routing_figures(), "| up to 0.7 | 3 | 0 (equivalent) |"),
        ("routing", "policy", routing_figures(), "| any other | 3 (predicted) | 1 (predicted) |"),
        ("routing", "policy", routing_figures(), "K = 3 for 1 to 1, 0 for 2 to 16 requests"),
        ("routing", "ramp", routing_figures(), "| all phases | 10.00 | 11.00 | 12.00 | 13.00 |"),
        ("routing", "ramp", routing_figures(), "| 1.30× (0.90 to 1.40) | 1.18× (0.90 to 1.40) |"),
        ("routing", "ramp", routing_figures(), "| 1 · concurrency 1 | 10.00 |"),
        ("speedup", "categories", speedup_figures(), "| 12 of 14 | 0.638 | 3.38 | 1.34× (1.14 to"),
        ("speedup", "categories", speedup_figures(), "| all | 0 of 14 | 0.638 | 3.38 | – |"),
        ("side_by_side", "ratios", side_by_side_figures(), "0.800 (0.800 to 0.800) | 1.050 (1.0"),
        ("client_cost", "clients", client_cost_figures(), "| 29,000 (29,000 to 29,000) | 34.5 |"),
        ("plans", "two-minutes", plans_figures(), "| 0 | concurrency 4 | 0.30 | 1.50 | 0.96× (0.8"),
        ("plans", "two-minutes", plans_figures(), "2 × CPU, avx2, avx512f, 18 prompts"),
        ("plans", "k-sweep", plans_figures(), "Not measured yet"),
        ("setup_time", "seconds", setup_time_figures(), "| 31.0 (30.0 to 32.0) |"),
        ("lossless", "answers", lossless_figures(), "| eagle | tree | float32 | 47 of 48 |"),
        ("page_changes", "changes", page_changes_figures(), "| 101, P95 102 | – |"),
    ],
)
def test_a_table_shows_what_was_saved(file: str, table: str, figures: dict, line: str):
    assert line in TABLES[file][table]({**ABOUT, **figures})


def test_a_table_says_where_it_comes_from():
    made = TABLES["speedup"]["categories"]({**ABOUT, **speedup_figures()})
    assert made.endswith(
        "Measured on 2 × CPU, avx2, avx512f, 7 prompts: `python -m benchmarks.made` "
        "(2026-01-02, revision `0123456789ab`)."
    )
