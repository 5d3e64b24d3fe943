"""The tables take what the benchmarks save: made figures in the shape of each result file."""

from dataclasses import asdict

import pytest

from benchmarks import (
    client_cost,
    first_token,
    plans,
    policy_cost,
    side_by_side,
    speedup,
    tracing_cost,
)
from benchmarks.tables import TABLES

ABOUT = {
    "date": "2026-01-02T03:04:05+00:00",
    "git_revision": "0123456789ab",
    "hardware": "2 × CPU",
    "cpu_features": ["avx2", "avx512f"],
    "command": "python -m benchmarks.made",
    "prompts": 7,
}


def first_token_figures():
    starts = [first_token.Figures(4.0 + n, 2.0 + n, 2.5, 1.5, 1.0, 1.2, 600.4) for n in range(3)]
    return {"starts": [asdict(one) for one in starts]}


def tracing_cost_figures():
    slow, fast = (tracing_cost.Measurement(speed, 1000 / speed) for speed in (90.0, 100.0))
    return {"rows": [tracing_cost.row("traced", "idle", 16, slow, fast)] * 2}


def policy_cost_figures():
    step = asdict(policy_cost.Step(draft_ms=2.0, verify_ms=3.0, wall_ms=5.5))
    alone = {"plain": 2.0, "all at 0": 3.0}
    half = {**alone, "half at 0": 5.0}
    rows = [(1, alone, None), (4, half, step)]
    return {"rows": [{"batch": n, "ms_per_token": [ms] * 2, "step": step} for n, ms, step in rows]}


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
        ("policy_cost", "zero", policy_cost_figures(), "| 1.50 (1.50 to 1.50) | – | – |"),
        (
            "policy_cost",
            "zero",
            policy_cost_figures(),
            "| 2.50 (2.50 to 2.50) | 2.00 + 3.00 of 5.50 |",
        ),
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
