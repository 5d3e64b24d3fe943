"""A policy made from a sweep, on a load that changes, next to always off, always on and vLLM's own
schedule.

    python -m benchmarks.routing [--by-temperature] [--db FILE --sweep ID]

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
        sweep = options.sweep or specviz(db, "bench", RAMP / "sweep.toml")["benchmark_id"]
        plan = tomllib.loads((RAMP / "plan.toml").read_text(encoding="utf-8"))
        made = ["policy", "--benchmark", sweep, "--slo", f"tpot_ms={plan['slo']['tpot_ms']}"]
        made += [] if options.by_temperature else ["--mixed"]
        found = specviz(db, *made, "--schedule", "vllm")
        (folder / "policy.toml").write_text(found["policy_toml"], encoding="utf-8")
        schedule = json.loads(found["schedule"]["option"])
        plan["arms"][ARMS.index("schedule")] |= {
            "schedule": schedule["num_speculative_tokens_per_batch_size"]
        }
        (folder / "plan.toml").write_text(tomli_w.dumps(plan), encoding="utf-8")
        ramp = specviz(db, "bench", folder / "plan.toml")
    figures = {
        "tpot_slo_ms": plan["slo"]["tpot_ms"],
        "policy": found["policy"],
        "schedule": schedule,
        "phases": ramp["results"]["phases"],
    }
    print(json.dumps(figures, indent=1))
    if options.save:
        save(options.save, figures, prompts=ramp["requests"]["finished"])


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
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
