"""A policy made from a sweep, on a load that changes, next to always off, always on and vLLM's own
schedule.

    python -m benchmarks.routing [--method ngram] [--by-temperature] [--db FILE --sweep ID]

Three steps, each a command that a user would run: `specviz bench benchmarks/ramp/sweep.toml`,
`specviz policy --mixed` for the table and for vLLM's schedule, and `specviz bench` of
`benchmarks/ramp/plan.toml` with both. `--by-temperature` lets temperatures of one load have
different Ks; the schedule is then that of temperature 0. `--sweep` takes one that `--db` has.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tomli_w

from benchmarks.results_file import add_save_option, save
from specviz.paths import PROJECT_ROOT

RAMP = PROJECT_ROOT / "benchmarks" / "ramp"
ARMS = ("off", "on", "schedule", "policy")
"""Of the ramp's plan, in its order."""


def main() -> None:
    options = read_options()
    with TemporaryDirectory() as name:
        folder = Path(name)
        db = options.db or folder / "runs.duckdb"
        sweep = options.sweep or measured(db, of_method("sweep.toml", options.method), folder)
        plan = of_method("plan.toml", options.method)
        made = ["policy", "--benchmark", sweep, "--slo", f"tpot_ms={plan['slo']['tpot_ms']}"]
        made += [] if options.by_temperature else ["--mixed"]
        found = specviz(db, *made, "--vllm")
        (folder / "policy.toml").write_text(found["policy_toml"], encoding="utf-8")
        schedule = json.loads(found["schedule"]["option"])
        ranges = schedule["num_speculative_tokens_per_batch_size"]
        k = found["policy"]["num_speculative_tokens"]
        plan["arms"][ARMS.index("schedule")] |= {"k": k, "schedule": ranges}
        plan["arms"][ARMS.index("policy")] |= {"k": k}
        ramp = specviz(db, "bench", written(plan, folder))
    figures = {
        "method": options.method,
        "tpot_slo_ms": plan["slo"]["tpot_ms"],
        "policy": found["policy"],
        "schedule": schedule,
        "phases": ramp["results"]["phases"],
    }
    print(json.dumps(figures, indent=1))
    if options.save:
        save(options.save, figures, prompts=ramp["requests"]["finished"])


def of_method(name: str, method: str) -> dict[str, Any]:
    """A plan of this folder whose arms speculate with another method."""
    plan = tomllib.loads((RAMP / name).read_text(encoding="utf-8"))
    for arm in plan["arms"]:
        if arm["method"] != "baseline":
            arm["method"] = method
    return plan


def measured(db: Path, plan: dict[str, Any], folder: Path) -> str:
    """The benchmark's id."""
    return str(specviz(db, "bench", written(plan, folder))["benchmark_id"])


def written(plan: dict[str, Any], folder: Path) -> Path:
    path = folder / "plan.toml"
    path.write_text(tomli_w.dumps(plan), encoding="utf-8")
    return path


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--method", choices=("draft_model", "ngram"), default="draft_model")
    parser.add_argument("--by-temperature", action="store_true", help="without --mixed")
    parser.add_argument("--db", type=Path, help="keep the runs here (default: not kept)")
    parser.add_argument("--sweep", help="id of a sweep in --db")
    add_save_option(parser, "routing")
    return parser.parse_args()


def specviz(db: Path, *arguments: str | Path) -> dict[str, Any]:
    """What a command prints with --json; its progress goes to this terminal."""
    command = [sys.executable, "-m", "specviz", *map(str, arguments), "--db", str(db), "--json"]
    done = subprocess.run(command, cwd=PROJECT_ROOT, stdout=subprocess.PIPE, check=True)
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


if __name__ == "__main__":
    main()
